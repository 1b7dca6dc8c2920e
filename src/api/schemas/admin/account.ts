// Accounts, as global admins see and change them.

import { z } from 'zod';
import { Id, Timestamp } from '../fields.ts';
import { Email, PersonName } from '../people.ts';

const planSlug = z.string().min(1).max(40);

export const AdminAccount = z
  .object({
    id: Id,
    email: z.string(),
    email_confirmed: z.boolean(),
    name: z.string().optional(),
    admin: z.boolean().describe('A global admin: owner of every domain.'),
    reseller: z.boolean(),
    provider: Id.optional().describe('The reseller that manages the account.'),
    active: z.boolean().describe('False: every call of the account is refused; its domains are served.'),
    plan: z.string().optional().describe('The plan of its new domains. Absent: none.'),
    password_set: z.boolean(),
    otp: z.boolean().describe('Two-step sign-in is on.'),
    domains: z.int().min(0).describe('How many domains it has.'),
    created_at: Timestamp,
  })
  .meta({ id: 'AdminAccount' });

export const NewAdminAccount = z
  .strictObject({
    email: Email,
    name: PersonName.optional(),
    admin: z.boolean().default(false),
    plan: planSlug.nullable().default('free').describe('Of its new domains; null: none.'),
  })
  .meta({ id: 'NewAccount' });

export const AccountChange = z
  .strictObject({
    email: Email.optional(),
    name: PersonName.nullable().optional(),
    admin: z.boolean().optional(),
    reseller: z.boolean().optional(),
    provider: Id.nullable().optional().describe('A reseller, or null: nobody.'),
    active: z.boolean().optional(),
    plan: planSlug.nullable().optional().describe('Of its new domains; those that it has keep theirs.'),
  })
  .meta({ id: 'AccountChange' });

export const LinkOrder = z
  .strictObject({
    kind: z
      .enum(['sign-in', 'reset'])
      .describe('`sign-in` signs in once; `reset` sets a new password, and ends all sessions.'),
  })
  .meta({ id: 'LinkOrder' });

export const AccountLink = z
  .object({
    kind: z.enum(['sign-in', 'reset']),
    expires_in_minutes: z.int().min(1),
    link: z.string().optional().describe('Works once. It is shown this once.'),
  })
  .meta({ id: 'AccountLink' });
