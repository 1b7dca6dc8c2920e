// The TXT record that proves a domain in external mode or prepares a waiting one in managed mode, and its lookups: what
// each server responded.

import { z } from 'zod';
import { TXT_VERDICTS } from '../../../checks/txt/txt-judgement.ts';
import { Id, Timestamp } from '../fields.ts';
import { CHECK_KINDS } from './check.ts';

const outcome = z
  .enum(['found', 'absent', 'other', 'error'])
  .describe('`other`: something else is there. `error`: no answer that says anything of the zone.');

const TxtServers = z.array(
  z.object({
    server: z.string(),
    address: z.string().optional().describe('Absent for a nameserver of which none could be found.'),
    outcome,
    values: z.array(z.string()).optional().describe('The TXT records that it has, as bare text.'),
  }),
);
const TxtResolvers = z.array(z.object({ address: z.string(), outcome }));

export const Verification = z.object({
  host: z.string().describe('Where the TXT record belongs.'),
  type: z.literal('TXT'),
  value: z.string().describe('What it must say.'),
  verified: z.boolean().describe('In managed mode: the record was found, and the zone is answered whole.'),
  verified_until: Timestamp.optional().describe(
    'In managed mode: so long the record that was found counts; each time that it is found again, for 14 days more.',
  ),
  expires_at: Timestamp.describe(
    'When the value expires: it is no longer looked for, and `verify` gives a fresh one.',
  ),
  seconds_remaining: z.int().min(0),
  checked_at: Timestamp.optional().describe(
    'When this value was last looked for. This and what follows: in GET of the domain and in `verify` only.',
  ),
  next_attempt_at: Timestamp.optional().describe('When the service looks for it by itself.'),
  found: z.int().min(0).optional().describe('Server addresses that have it …'),
  asked: z.int().min(0).optional().describe('… of all that the zone has.'),
  servers: TxtServers.optional().describe('What each of them said.'),
  resolvers: TxtResolvers.optional().describe(
    'What public resolvers say. They decide nothing: they may still have what was there before.',
  ),
  message: z.string().optional().describe('What the result means, in a sentence.'),
});

export const VerificationLook = z
  .object({
    id: Id,
    kind: z.enum(CHECK_KINDS),
    started_at: Timestamp,
    finished_at: Timestamp,
    value: z.string().describe('What was looked for: perhaps an older value.'),
    verdict: z
      .enum(TXT_VERDICTS)
      .describe(
        '`partial`: some servers have the value. `wildcard`: so have names that do not exist. `disagree`: servers on the way to it say different things. `untrusted`: our own servers answer, for whoever. `unknown`: nothing was learnt.',
      ),
    found: z.int().min(0).describe('Server addresses that have it …'),
    asked: z.int().min(0).describe('… of all that the zone has.'),
    servers: TxtServers.describe('What each of them said.'),
    resolvers: TxtResolvers.describe('What public resolvers say. They decide nothing.'),
    message: z.string().describe('What the result means, in a sentence.'),
    change_id: Id.optional().describe('The change of the status that it made.'),
  })
  .meta({ id: 'VerificationLook' });
