// The TXT record that proves a domain in external mode, or prepares a waiting domain in managed mode, and its lookups
// with the response of each server.

import { z } from 'zod';
import { TXT_VERDICTS } from '../../../checks/txt/txt-judgement.ts';
import { Id, Timestamp } from '../fields.ts';
import { CHECK_KINDS } from './check.ts';

const outcome = z
  .enum(['found', 'absent', 'other', 'error'])
  .describe('`other`: there is another value. `error`: no usable answer.');

const TxtServers = z.array(
  z.object({
    server: z.string(),
    address: z.string().optional().describe('Absent if no address of the nameserver could be found.'),
    outcome,
    values: z.array(z.string()).optional().describe('The TXT records of the server, as plain text.'),
  }),
);
const TxtResolvers = z.array(z.object({ address: z.string(), outcome }));

export const Verification = z.object({
  host: z.string().describe('The name at which to publish the TXT record.'),
  type: z.literal('TXT'),
  value: z.string().describe('The required text of the TXT record.'),
  verified: z
    .boolean()
    .describe('In managed mode: true if the record was found, so that the zone is answered completely.'),
  verified_until: Timestamp.optional().describe(
    'In managed mode: the time until which the found record is valid. Each time that it is found again, it is valid for another 14 days.',
  ),
  expires_at: Timestamp.describe(
    'Time at which the value expires. The service then stops looking for it, and `verify` returns a new one.',
  ),
  seconds_remaining: z.int().min(0),
  checked_at: Timestamp.optional().describe(
    'Time of the last lookup of this value. This member and those below are only in GET of the domain and in `verify`.',
  ),
  next_attempt_at: Timestamp.optional().describe('Time of the next automatic lookup.'),
  found: z.int().min(0).optional().describe('Server addresses that have the value.'),
  asked: z.int().min(0).optional().describe('All server addresses of the zone.'),
  servers: TxtServers.optional().describe('The response of each address.'),
  resolvers: TxtResolvers.optional().describe(
    'The responses of public resolvers. They decide nothing, because they may still have an older answer in their caches.',
  ),
  message: z.string().optional().describe('The meaning of the result, in one sentence.'),
});

export const VerificationLook = z
  .object({
    id: Id,
    kind: z.enum(CHECK_KINDS),
    started_at: Timestamp,
    finished_at: Timestamp,
    value: z.string().describe('The value that was looked up. It may be an older one.'),
    verdict: z
      .enum(TXT_VERDICTS)
      .describe(
        '`partial`: only some servers have the value. `wildcard`: names that do not exist have it too. `disagree`: servers on the path to it give different answers. `untrusted`: the servers of this service answer, which proves nothing. `unknown`: nothing was learned.',
      ),
    found: z.int().min(0).describe('Server addresses that have the value.'),
    asked: z.int().min(0).describe('All server addresses of the zone.'),
    servers: TxtServers.describe('The response of each address.'),
    resolvers: TxtResolvers.describe('The responses of public resolvers. They decide nothing.'),
    message: z.string().describe('The meaning of the result, in one sentence.'),
    change_id: Id.optional().describe('The status change that the lookup caused.'),
  })
  .meta({ id: 'VerificationLook' });
