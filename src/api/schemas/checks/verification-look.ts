// One look for the TXT record of a domain, as the log of them shows it.

import { z } from 'zod';
import { TXT_VERDICTS } from '../../../checks/txt/txt-judgement.ts';
import { Id } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';
import { CHECK_KINDS } from './check.ts';
import { TxtResolvers, TxtServers } from './verification.ts';

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
