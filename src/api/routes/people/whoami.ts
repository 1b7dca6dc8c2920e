// GET /whoami: describes the caller's credential: its account and what it allows.

import { account, route } from '../../calls/route.ts';
import { sessionEndsAt } from '../../people/judge-session.ts';
import { WhoAmI } from '../../schemas/key.ts';

export const whoAmI = route(account(), {
  method: 'GET',
  path: '/whoami',
  operationId: 'whoAmI',
  tag: 'Your account',
  summary: 'The account of the credential, and what it allows.',
  response: WhoAmI,
  run({ caller }) {
    const { account, credential, key, rate } = caller;
    const { domains, names, types } = key;
    const expiresAt =
      credential.kind === 'session' ? sessionEndsAt(credential.session, account) : credential.expiresAt;
    return {
      user_id: account.id,
      email: account.email,
      admin: account.isAdmin,
      reseller: account.isReseller,
      ...(account.providerId !== null && { provider: account.providerId }),
      credential: credential.kind,
      read_only: key.readOnly,
      ...(domains !== null && { domains: [...domains] }),
      ...(names !== null && { names: [...names] }),
      ...(types !== null && { types: [...types] }),
      ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
      ...(rate !== undefined && {
        rate: { limit: rate.limit, remaining: rate.remaining, reset_seconds: rate.resetSeconds },
      }),
    };
  },
});
