// Requests and responses for signing in, accounts, sessions and API keys.

import { z } from 'zod';
import { readEmail } from '../../store/accounts/accounts.ts';
import { Id, nameText, Timestamp } from './fields.ts';

const MIN_PASSWORD_CHARACTERS = 10;
const MAX_PASSWORD_CHARACTERS = 256;

/** An existing password. It is only compared, so shorter ones are accepted. */
export const GivenPassword = z.string().max(MAX_PASSWORD_CHARACTERS);
export const NewPassword = GivenPassword.min(MIN_PASSWORD_CHARACTERS);
export const Email = z
  .string()
  .max(254)
  .refine((text) => readEmail(text) !== undefined, 'expected an email address');
export const LinkToken = z.string().max(100).describe('The part of the link after `=`.');
export const Code = z
  .string()
  .max(40)
  .describe('A code from the authenticator app, or a recovery code, which can be used once.');
export const PersonName = nameText(200);

export const Bearer = z
  .boolean()
  .default(false)
  .describe(
    'If true, the response contains the token of the session, to be sent as `Authorization: Bearer`, and sets no cookie.',
  );

const TOKEN = 'For a session with `bearer`: its new token. It is shown only once.';

export const SignedIn = z
  .object({
    user_id: Id,
    email: z.string(),
    name: z.string().optional(),
    admin: z.boolean(),
    password_set: z.boolean().describe('If false, set a password now with `PUT /users/me/password`.'),
    otp: z.boolean().describe('True if two-step sign-in is on.'),
    token: z.string().optional().describe('With `bearer`: the token of the session. It is shown only once.'),
  })
  .meta({ id: 'SignedIn' });

export const Rotated = z
  .object({ message: z.string(), token: z.string().optional().describe(TOKEN) })
  .meta({ id: 'Rotated' });

export const OtpSecret = z
  .object({ secret: z.string().describe('Base32.'), uri: z.string().describe('To be shown as a QR code.') })
  .meta({ id: 'OtpSecret' });

export const RecoveryCodes = z
  .object({
    recovery_codes: z.array(z.string()).describe('Each can be used once. They are shown only once.'),
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
    otp: z.boolean().describe('True if two-step sign-in is on.'),
    identity: z.boolean().describe('True if an identity of an identity provider is linked.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Profile' });

export const SessionItem = z
  .object({
    id: Id,
    current: z.boolean().describe('True if this is the session of the call.'),
    bearer: z.boolean(),
    address: z.string().optional().describe('Address of the client that signed in.'),
    user_agent: z.string().optional(),
    created_at: Timestamp,
    used_at: Timestamp.describe('Time of the last use, to the minute.'),
    expires_at: Timestamp.describe('Time at which it expires if it is not used before.'),
  })
  .meta({ id: 'SessionItem' });

const MAX_ITEMS = 100;
const texts = z.array(z.string().max(1100)).min(1).max(MAX_ITEMS);

const NARROWED = {
  domains: texts.optional().describe('The key is valid for these domains only.'),
  names: texts.optional().describe('The key may write only records with these full names, and nothing else.'),
  types: texts.optional().describe('The key may write only records of these types, and nothing else.'),
};

export const NewKey = z
  .strictObject({
    name: nameText(100).describe('The purpose of the key.'),
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
    last_used_at: Timestamp.optional().describe('Time of the last use, to the minute.'),
    created_at: Timestamp,
    key: z.string().optional().describe('The key itself. Only in the response that creates it.'),
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
      .describe('Requests per minute. Absent if there is no limit.'),
  })
  .meta({ id: 'WhoAmI' });
