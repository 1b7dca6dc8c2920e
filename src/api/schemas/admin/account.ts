// Accounts, as global admins read and change them.

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
    admin: z.boolean().describe('True for a global admin, who has the rights of an owner in every domain.'),
    reseller: z.boolean(),
    provider: Id.optional().describe('The reseller that manages the account.'),
    active: z
      .boolean()
      .describe('If false, every call of the account is refused. Its domains are still served.'),
    plan: z.string().optional().describe('The plan of its new domains. Absent if they get no plan.'),
    password_set: z.boolean(),
    otp: z.boolean().describe('True if two-step sign-in is on.'),
    domains: z.int().min(0).describe('Number of domains that the account owns.'),
    created_at: Timestamp,
  })
  .meta({ id: 'AdminAccount' });

export const NewAdminAccount = z
  .strictObject({
    email: Email,
    name: PersonName.optional(),
    admin: z.boolean().default(false),
    plan: planSlug.nullable().default('free').describe('The plan of its new domains. null: no plan.'),
  })
  .meta({ id: 'NewAccount' });

export const AccountChange = z
  .strictObject({
    email: Email.optional(),
    name: PersonName.nullable().optional(),
    admin: z.boolean().optional(),
    reseller: z.boolean().optional(),
    provider: Id.nullable().optional().describe('The reseller that manages the account. null: none.'),
    active: z.boolean().optional(),
    plan: planSlug
      .nullable()
      .optional()
      .describe('The plan of its new domains. Existing domains keep their plan.'),
  })
  .meta({ id: 'AccountChange' });

export const LinkOrder = z
  .strictObject({
    kind: z
      .enum(['sign-in', 'reset'])
      .describe(
        '`sign-in`: a link that signs in once. `reset`: a link that sets a new password and ends all sessions.',
      ),
  })
  .meta({ id: 'LinkOrder' });

export const AccountLink = z
  .object({
    kind: z.enum(['sign-in', 'reset']),
    expires_in_minutes: z.int().min(1),
    link: z.string().optional().describe('The link can be used once. It is shown only once.'),
  })
  .meta({ id: 'AccountLink' });
