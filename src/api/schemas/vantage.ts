// Bodies that observers send and receive (docs/api.md "Observers"). An observer is trusted with its observations but
// not with the memory of this process, so every part of its evidence is bounded.

import { z } from 'zod';
import { NEEDS } from '../../checks/delegation/evidence.ts';
import { isJsonName } from '../../checks/delegation/evidence-json.ts';
import { SERVER_OUTCOMES } from './checks/check.ts';
import { boundedArray, Timestamp } from './fields.ts';

const MOST_JOBS = 16;
const MOST_SECONDS = 20;
const MOST_ZONES = 64;
const MOST_SERVERS = 128;
const MOST_NAMES = 64;
const MOST_DS = 16;
const MOST_TEXT = 2000;
const MOST_DS_TEXT = 8192;

const NameText = z.string().max(1024).refine(isJsonName, 'must be a name in its folded, absolute form');
const NameTexts = boundedArray(NameText).max(MOST_NAMES);
const Count = z.int().min(0).max(10_000);
const Milliseconds = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const Text = z
  .string()
  .max(MOST_TEXT)
  .regex(/^[\x20-\ud7ff\ue000-\uffff]*$/, 'must not contain control characters');

const Server = z.strictObject({
  server: NameText,
  address: z.string().regex(/^[0-9a-f.:]{2,45}$/, 'must be an address'),
  transport: z.enum(['udp', 'tcp']),
  askedAt: Milliseconds,
  needed: z.array(z.enum(NEEDS)).max(NEEDS.length).optional(),
  rttMs: z.number().min(0).max(3_600_000).optional(),
  outcome: z.enum(SERVER_OUTCOMES),
  rcode: z.int().min(0).max(4095).optional(),
  aa: z.boolean().optional(),
  ns: NameTexts,
  ttl: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  ds: boundedArray(
    z
      .string()
      .max(MOST_DS_TEXT)
      .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be base64'),
  ).max(MOST_DS),
  showsCut: z.boolean().optional(),
  proof: z.enum(['secure', 'insecure']).optional(),
  error: Text.optional(),
});

const FAILURES = [
  'unreachable',
  'lame',
  'no_address',
  'limit',
  'loop',
  'bogus',
  'validation_limit',
  'later',
] as const;

const Evidence = z
  .strictObject({
    domain: NameText,
    parent: NameText.optional(),
    walk: boundedArray(z.strictObject({ zone: NameText, servers: NameTexts, cached: z.boolean() })).max(
      MOST_ZONES,
    ),
    servers: boundedArray(Server).max(MOST_SERVERS),
    parentAddresses: Count,
    failure: z.strictObject({ zone: NameText, reason: z.enum(FAILURES), message: Text }).optional(),
    security: z.enum(['secure', 'insecure', 'indeterminate']).optional(),
    rootFault: z.literal(true).optional(),
    queries: Count,
    startedAt: Milliseconds,
    finishedAt: Milliseconds,
  })
  .meta({ id: 'VantageEvidence' });

export const JobsWanted = z.strictObject({
  max: z.int().min(1).max(MOST_JOBS).describe('Maximum number of jobs to return.'),
  waitSeconds: z.int().min(0).max(MOST_SECONDS).describe('Maximum time to wait for a job.'),
});

export const Jobs = z.object({
  jobs: z.array(
    z.object({
      id: z.uuid(),
      name: z.string().describe('The domain to be checked, without the final dot.'),
      deadline: Timestamp.describe('Answers after this time are dropped.'),
      fresh: z.boolean().describe('If true, queries that failed recently are repeated.'),
      thorough: z.boolean().describe('If true, every address of the parent is queried.'),
    }),
  ),
});

export const VantageAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string().max(1024).describe('As in the job.'),
  evidence: Evidence.describe("The responses of the parent zone's servers."),
});

export const Taken = z.object({
  taken: z.boolean(),
  reason: z
    .enum(['unknown', 'other_vantage', 'other_name', 'twice', 'late'])
    .optional()
    .describe('Why the answer was dropped.'),
});
