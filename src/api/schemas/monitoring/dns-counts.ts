// What nameservers answered for a domain, or for several.

import { z } from 'zod';
import { Timestamp } from '../timestamp.ts';

const count = z.int().min(0);
const ByType = z.record(z.string(), count).describe('By type; those without a name here are `other`.');
const ByRcode = z.record(z.string(), count);

export const DnsCounts = z
  .object({
    bucket: z.enum(['minute', 'hour', 'day']),
    total: count,
    types: ByType,
    rcodes: ByRcode,
    nodes: z.array(z.object({ node: z.string(), count })),
    names: z
      .array(z.object({ name: z.string(), count }))
      .describe(
        'The names that were asked for most, on the days of the period. From one question of 256: the counts are estimates.',
      ),
    data: z.array(z.object({ timestamp: Timestamp, count, types: ByType, rcodes: ByRcode })),
  })
  .meta({ id: 'DnsCounts' });

const DnsSparklines = z
  .object({
    bucket: z.enum(['minute', 'hour', 'day']),
    timestamps: z.array(Timestamp),
    domains: z.array(z.object({ id: z.int(), domain: z.string(), total: count, counts: z.array(count) })),
  })
  .meta({ id: 'DnsSparklines' });

/** By what was asked with: `domain` or `domains`. */
export const DnsAnalytics = z.union([DnsCounts, DnsSparklines]);
