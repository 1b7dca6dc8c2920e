// Requests and responses of signing in with the identity provider.

import { z } from 'zod';
import { Id, Timestamp } from '../../api/schemas/fields.ts';
import { PURPOSES } from './rules.ts';

const MAX_CODE_CHARACTERS = 8192;

export const Offer = z
  .object({
    enabled: z.boolean().describe('False if people sign in with passwords only.'),
    name: z.string().optional().describe('Name of the provider, for a button.'),
    confirms: z
      .boolean()
      .optional()
      .describe('True if `POST /auth/oidc/confirm` can confirm a session. Absent if there is no provider.'),
    sign_out_url: z
      .string()
      .optional()
      .describe('Page that also signs out of the provider. Absent if the provider has none.'),
  })
  .meta({ id: 'IdentityProvider' });

export const Begin = z.strictObject({
  purpose: z
    .enum(PURPOSES)
    .default('sign-in')
    .describe(
      '`confirm` makes the person authenticate again, and `link` is for `POST /users/me/identities`.',
    ),
});

export const Begun = z
  .object({ url: z.string().describe('Page of the provider, to be opened in the same browser.') })
  .meta({ id: 'IdentityRequest' });

const RETURNED = {
  code: z
    .string()
    .min(1)
    .max(MAX_CODE_CHARACTERS)
    .describe('The parameter `code` of the page that the provider opens.'),
  state: z.string().max(200).describe('Its parameter `state`.'),
  iss: z.string().max(1000).optional().describe('Its parameter `iss`, if there is one.'),
};

export const ReturnedBody = z.strictObject(RETURNED);

export const FinishBody = z.strictObject({
  ...RETURNED,
  otp: z
    .string()
    .max(40)
    .optional()
    .describe(
      'A code from the authenticator app. Repeat the call with it after the response `otp_required`.',
    ),
});

export const IdentityItem = z
  .object({
    id: Id,
    issuer: z.string(),
    email: z.string().optional().describe('Address that the provider reported last.'),
    created_at: Timestamp,
    used_at: Timestamp.optional().describe('Time of the last sign-in.'),
  })
  .meta({ id: 'Identity' });
