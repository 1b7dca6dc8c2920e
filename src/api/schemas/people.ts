// What people send to sign in, and how their accounts, sessions and API keys are shown.

import { z } from 'zod';
import { readEmail } from '../../store/accounts/accounts.ts';
import { Id, nameText, Timestamp } from './fields.ts';

const MIN_PASSWORD_CHARACTERS = 10;
const MAX_PASSWORD_CHARACTERS = 256;

/** One that is there already is only compared. */
export const GivenPassword = z.string().max(MAX_PASSWORD_CHARACTERS);
export const NewPassword = GivenPassword.min(MIN_PASSWORD_CHARACTERS);
export const Email = z
  .string()
  .max(254)
  .refine((text) => readEmail(text) !== undefined, 'expected an email address');
export const LinkToken = z.string().max(100).describe('What stands behind `=` in the link.');
export const Code = z
  .string()
  .max(40)
  .describe('Of the authenticator app; or a recovery code, which counts once.');
export const PersonName = nameText(200);

export const Bearer = z
  .boolean()
  .default(false)
  .describe(
    'True: the token of the session is in the answer, to be sent as `Authorization: Bearer`; no cookie is set.',
  );

const TOKEN = 'Of a session with `bearer`: its new token. It is shown this once.';

export const SignedIn = z
  .object({
    user_id: Id,
    email: z.string(),
    name: z.string().optional(),
    admin: z.boolean(),
    password_set: z.boolean().describe('False: set one now, with `PUT /users/me/password`.'),
    otp: z.boolean().describe('Two-step sign-in is on.'),
    token: z.string().optional().describe('With `bearer`: the token of the session. It is shown this once.'),
  })
  .meta({ id: 'SignedIn' });

export const Rotated = z
  .object({ message: z.string(), token: z.string().optional().describe(TOKEN) })
  .meta({ id: 'Rotated' });

export const OtpSecret = z
  .object({ secret: z.string().describe('Base32.'), uri: z.string().describe('For a QR code.') })
  .meta({ id: 'OtpSecret' });

export const RecoveryCodes = z
  .object({
    recovery_codes: z.array(z.string()).describe('Each counts once. They are shown this once.'),
    token: z.string().optional().describe(TOKEN),
  })
  .meta({ id: 'RecoveryCodes' });

export const Profile = z
  .object({
    user_id: Id,
    email: z.string(),
    email_confirmed: z.boolean(),
    name: z.string().optional(),
    admin: z.boolean(),
    reseller: z.boolean(),
    provider: Id.optional().describe('The reseller that manages the account.'),
    password_set: z.boolean(),
    otp: z.boolean().describe('Two-step sign-in is on.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Profile' });

export const SessionItem = z
  .object({
    id: Id,
    current: z.boolean().describe('This call has it.'),
    bearer: z.boolean(),
    address: z.string().optional().describe('Where it was opened.'),
    user_agent: z.string().optional(),
    created_at: Timestamp,
    used_at: Timestamp.describe('To the minute.'),
    expires_at: Timestamp.describe('If it is not used before.'),
  })
  .meta({ id: 'SessionItem' });

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
