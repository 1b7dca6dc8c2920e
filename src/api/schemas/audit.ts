// A row of the audit log: who did what to what, and what was so before and after.

import { z } from 'zod';
import { ACTION_NAMES, TARGET_KINDS } from '../../store/audit/audit-actions.ts';
import { ACTOR_KINDS } from './change.ts';
import { Id } from './ids.ts';
import { Timestamp } from './timestamp.ts';

const fields = (when: string) =>
  z.record(z.string(), z.unknown()).optional().describe(`What differs, as it was ${when}. Never a secret.`);

export const AuditEntry = z
  .object({
    id: Id,
    at: Timestamp,
    actor: z
      .object({
        kind: z.enum(ACTOR_KINDS),
        user_id: Id.optional(),
        key_id: Id.optional(),
        address: z.string().optional(),
        name: z.string().optional().describe('Of the command line: who ran it. For global admins only.'),
      })
      .describe(
        'Of a sign-in that failed only where it came from. Of operators customers see no address and no key.',
      ),
    action: z.enum(ACTION_NAMES),
    target: z.object({
      kind: z.enum(TARGET_KINDS),
      id: Id.optional(),
      name: z.string().optional().describe('It stays when what it names is gone.'),
    }),
    user_id: Id.optional().describe('The account that it is about.'),
    domain_id: Id.optional().describe('The domain that it is about.'),
    change_id: Id.optional().describe('The change that tells more.'),
    before: fields('before'),
    after: fields('after'),
  })
  .meta({ id: 'AuditEntry' });
