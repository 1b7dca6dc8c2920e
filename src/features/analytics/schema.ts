// Schemas of the analytics of requests and of DNS queries.

import { z } from 'zod';
import { Timestamp } from '../../api/schemas/fields.ts';
import { MOST_HOST_CHARACTERS, MOST_PATH_CHARACTERS } from '../../edge/analytics/narrowing.ts';
import { PERIOD_NAMES } from '../../edge/analytics/window.ts';

export const AnalyticsQuery = z.object({
  domain: z
    .string()
    .describe('Name of the domain, as in paths. Exactly one: totals of an account are not available.'),
  period: z
    .string()
    .optional()
    .describe(
      `${PERIOD_NAMES.map((name) => `\`${name}\``).join(', ')}; any other text means \`24h\`. Up to 24 hours, buckets are hours, otherwise days, in UTC. The last bucket is incomplete.`,
    ),
  hostname: z
    .string()
    .max(MOST_HOST_CHARACTERS)
    .optional()
    .describe(
      'A host including its subdomains, or a single label, which selects only that host of the domain.',
    ),
  path: z
    .string()
    .max(MOST_PATH_CHARACTERS)
    .optional()
    .describe("Prefix of the URL's path, as clients send it. Case-sensitive."),
});

const count = z.int().min(0);
const octets = count.describe('In bytes.');
const ms = z.number().min(0).describe('In milliseconds, without WebSocket connections.');

export const AnalyticsSummary = z
  .object({
    total_requests: count,
    total_bandwidth: octets,
    unique_visitors: count.describe(
      'Distinct pairs of address and TLS fingerprint, or addresses of requests without TLS. Accurate to 2 %.',
    ),
    error_rate: z
      .number()
      .min(0)
      .max(1)
      .describe('Fraction of requests with a status of 500 or more, or without a response.'),
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
      reason: z.string().describe('Stable identifier, for programs.'),
      label: z.string(),
      fault: z.enum(['client', 'origin', 'network', 'config']).describe('Responsible party.'),
      meaning: z.string(),
      count,
      status: z.int().describe('Status that most visitors receive.'),
    })
    .meta({ id: 'UnreachableReason' }),
);

export const LogLines = listOf(
  z
    .object({
      timestamp: Timestamp,
      host: z.string(),
      method: z.string(),
      uri: z.string().describe('Includes the query.'),
      status: z.int().optional().describe('Absent if the visitor received no response.'),
      bytes: count,
      response_time: ms,
      client: z
        .string()
        .describe('Network of the client (/24 or /48), or its whole address if the operator keeps that.'),
      cache: z.string(),
      rule_id: z.int().optional().describe('Id of the rule that answered.'),
      reason: z.string().optional().describe('Why the request failed, as in `unreachable-reasons`.'),
      websocket: z.boolean(),
    })
    .meta({ id: 'LogLine' }),
);

const Volume = z.object({ requests: count, bandwidth: octets });
export const RequestsCompare = z
  .object({ current: Volume, previous: Volume })
  .meta({ id: 'RequestsCompare' });

const ByType = z
  .record(z.string(), count)
  .describe('By record type. Types that are not counted individually are `other`.');
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
        'The most queried names, on the days of the period. Estimates, because one query of 256 is sampled.',
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

/** Depends on the parameter: `domain` or `domains`. */
export const DnsAnalytics = z.union([DnsCounts, DnsSparklines]);
