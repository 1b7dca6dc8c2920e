// What is told of the requests of a domain.

import { z } from 'zod';
import { Timestamp } from '../timestamp.ts';

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
