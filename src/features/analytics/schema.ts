// Schemas of analytics: of requests, and of the queries that nameservers answered.

import { z } from 'zod';
import { Timestamp } from '../../api/schemas/fields.ts';
import { MOST_HOST_CHARACTERS, MOST_PATH_CHARACTERS } from '../../edge/analytics/narrowing.ts';
import { PERIOD_NAMES } from '../../edge/analytics/window.ts';

export const AnalyticsQuery = z.object({
  domain: z
    .string()
    .describe('The name of the domain, as in paths. Exactly one: totals of an account are not available.'),
  period: z
    .string()
    .optional()
    .describe(
      `${PERIOD_NAMES.map((name) => `\`${name}\``).join(', ')}; any other text is \`24h\`. Up to 24 hours by the hour, else by the day, in UTC; the last one is still filling.`,
    ),
  hostname: z
    .string()
    .max(MOST_HOST_CHARACTERS)
    .optional()
    .describe('A host with its subdomains; or one label, which is that host of the domain alone.'),
  path: z
    .string()
    .max(MOST_PATH_CHARACTERS)
    .optional()
    .describe('How the path of the URL begins, as clients send it; case counts.'),
});

const count = z.int().min(0);
const octets = count.describe('In bytes.');
const ms = z.number().min(0).describe('In milliseconds; WebSocket does not count.');

export const AnalyticsSummary = z
  .object({
    total_requests: count,
    total_bandwidth: octets,
    unique_visitors: count.describe(
      'Different pairs of address and TLS fingerprint; without TLS, addresses. Within 2 %.',
    ),
    error_rate: z.number().min(0).max(1).describe('The share with a status of 500 or more, or with none.'),
    avg_response_time: ms,
    p90: ms,
    p95: ms,
    p99: ms,
  })
  .meta({ id: 'AnalyticsSummary' });

const listOf = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item) });

export const Visitors = listOf(z.object({ timestamp: Timestamp, count }).meta({ id: 'VisitorsBucket' }));
export const TopUris = listOf(z.object({ uri: z.string(), request_count: count }).meta({ id: 'TopUri' }));
export const TopRequests = listOf(
  z.object({ value: z.string(), request_count: count }).meta({ id: 'TopRequest' }),
);

export const UnreachableReasons = listOf(
  z
    .object({
      reason: z.string().describe('For programs: it does not change.'),
      label: z.string(),
      fault: z.enum(['client', 'origin', 'network', 'config']).describe('Whose it is.'),
      meaning: z.string(),
      count,
      status: z.int().describe('Which status visitors mostly see.'),
    })
    .meta({ id: 'UnreachableReason' }),
);

export const LogLines = listOf(
  z
    .object({
      timestamp: Timestamp,
      host: z.string(),
      method: z.string(),
      uri: z.string().describe('With its query.'),
      status: z.int().optional().describe('Absent: the visitor got none.'),
      bytes: count,
      response_time: ms,
      client: z
        .string()
        .describe('The network of the address (/24 or /48), or all of it where the operator keeps that.'),
      cache: z.string(),
      rule_id: z.int().optional().describe('The rule that answered.'),
      reason: z.string().optional().describe('Why it failed, as in `unreachable-reasons`.'),
      websocket: z.boolean(),
    })
    .meta({ id: 'LogLine' }),
);

const Volume = z.object({ requests: count, bandwidth: octets });
export const RequestsCompare = z
  .object({ current: Volume, previous: Volume })
  .meta({ id: 'RequestsCompare' });

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
