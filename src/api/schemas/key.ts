// API keys, as their account makes and sees them; and what a credential is worth.

import { z } from 'zod';
import { Id } from './ids.ts';
import { nameText } from './name-text.ts';
import { Timestamp } from './timestamp.ts';

const MAX_ITEMS = 100;
const texts = z.array(z.string().max(1100)).min(1).max(MAX_ITEMS);

const NARROWED = {
  domains: texts.optional().describe('For these domains only.'),
  names: texts.optional().describe('May write records at these full names only, and nothing else.'),
  types: texts.optional().describe('May write records of these types only, and nothing else.'),
};

export const NewKey = z
  .strictObject({
    name: nameText(100).describe('What it is for.'),
    read_only: z.boolean().default(false),
    expires_at: Timestamp.optional(),
    ...NARROWED,
  })
  .meta({ id: 'NewKey' });

export const Key = z
  .object({
    id: Id,
    name: z.string(),
    prefix: z.string().describe('The first characters of the key.'),
    read_only: z.boolean(),
    ...NARROWED,
    expires_at: Timestamp.optional(),
    last_used_at: Timestamp.optional().describe('To the minute.'),
    created_at: Timestamp,
    key: z.string().optional().describe('The key itself, in the answer that makes it only.'),
  })
  .meta({ id: 'Key' });

export const WhoAmI = z
  .object({
    user_id: Id,
    email: z.string(),
    admin: z.boolean(),
    reseller: z.boolean(),
    provider: Id.optional().describe('The reseller that manages the account.'),
    credential: z.enum(['key', 'session', 'token']),
    read_only: z.boolean(),
    ...NARROWED,
    expires_at: Timestamp.optional(),
    rate: z
      .object({ limit: z.int(), remaining: z.int(), reset_seconds: z.int() })
      .optional()
      .describe('Requests a minute. Absent: there is no limit.'),
  })
  .meta({ id: 'WhoAmI' });
