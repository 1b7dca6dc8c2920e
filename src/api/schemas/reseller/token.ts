// Machine tokens of resellers.

import { z } from 'zod';
import { Id } from '../ids.ts';
import { nameText } from '../name-text.ts';
import { Timestamp } from '../timestamp.ts';

export const NewResellerToken = z
  .strictObject({ name: nameText(100).describe('What it is for.'), expires_at: Timestamp.optional() })
  .meta({ id: 'NewResellerToken' });

export const ResellerToken = z
  .object({
    id: Id,
    name: z.string(),
    key_id: z.string().describe('The part of the token that is no secret: `rsl_<key_id>_…`.'),
    status: z.enum(['active', 'revoked']),
    expires_at: Timestamp.nullable().describe('From then on it counts no more, whatever `status` says.'),
    last_used_at: Timestamp.nullable().describe('To the minute.'),
    created_at: Timestamp,
    token: z.string().optional().describe('The token itself, in the answer that makes it only.'),
  })
  .meta({ id: 'ResellerToken' });
