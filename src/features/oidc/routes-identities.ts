// /users/me/identities: the identities that may sign in to the caller's account.

import { z } from 'zod';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import { type Route, route, session } from '../../api/calls/route.ts';
import { renewSession } from '../../api/people/sessions.ts';
import { idText } from '../../api/schemas/fields.ts';
import { Rotated } from '../../api/schemas/people.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { type Credentials, lockCredentials } from '../../store/people/credentials.ts';
import { type Identity, listIdentities, unlinkIdentity } from '../../store/people/identities.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { redeemFlow } from './redeem.ts';
import { IdentityItem, ReturnedBody } from './schema.ts';
import { recordLink } from './sign-in.ts';

const TAG = 'Your account';

const listOwnIdentities = route(session(), {
  method: 'GET',
  path: '/users/me/identities',
  operationId: 'listIdentities',
  tag: TAG,
  summary: 'Lists the identities of identity providers that may sign in to your account, oldest first.',
  response: z.array(IdentityItem),
  run: async ({ api, caller }) => (await listIdentities(api.db, caller.account.id)).map(printIdentity),
});

const linkOwnIdentity = route(session({ fresh: true }), {
  method: 'POST',
  path: '/users/me/identities',
  operationId: 'linkIdentity',
  audit: { inHandler: 'identity.link' },
  tag: TAG,
  summary: 'Links an identity of the identity provider to your account, so that it may sign in.',
  description: 'Begin with `POST /auth/oidc/begin` and `purpose` set to `link`.',
  idempotent: false,
  body: ReturnedBody,
  response: IdentityItem,
  problems: ['wrong_state', 'oidc_refused', 'oidc_unavailable'],
  async run(call) {
    const { api, people, caller, setCookie } = call;
    const redeemed = await redeemFlow(call, 'link');
    if (redeemed instanceof Problem) return redeemed;
    const linked = await inTransaction(api.db, (trx) =>
      recordLink(trx, redeemed.person, caller.account.id, asActor(caller)),
    );
    if (linked instanceof Problem) return linked;
    setCookie(people.cookies.clear('flow'));
    return printIdentity(linked);
  },
});

const unlinkOwnIdentity = route(session({ fresh: true }), {
  method: 'DELETE',
  path: '/users/me/identities/{id}',
  operationId: 'unlinkIdentity',
  audit: { inHandler: 'identity.unlink' },
  tag: TAG,
  summary: 'Removes an identity from your account.',
  description: 'Ends all other sessions. Set a password first, so that you can sign in again.',
  params: z.object({ id: idText }),
  response: Rotated,
  problems: ['wrong_state'],
  async run(call) {
    const { api, people, caller, params } = call;
    const { account, credential } = caller;
    return await inTransaction<z.output<typeof Rotated> | Problem>(api.db, async (trx) => {
      const { passwordHash } = (await lockCredentials(trx, { accountId: account.id })) as Credentials;
      if (passwordHash === null)
        return problem('wrong_state', 'set a password first: otherwise you could not sign in');
      if (account.isAdmin && people.operatorsNeedProvider)
        return problem('wrong_state', 'operators sign in with the identity provider, not with a password');
      const removed = await unlinkIdentity(trx, account.id, params.id);
      if (removed === undefined) return rollBackTo(notFound('identity'));
      const { issuer, subject, email } = removed;
      const entry = { action: 'identity.unlink', by: asActor(caller), accountId: account.id } as const;
      await writeAudit(trx, { ...entry, before: { issuer, subject, email } });
      const renewed = await renewSession(trx, call, credential.session);
      return renewed instanceof Problem
        ? rollBackTo(renewed)
        : { message: 'the identity was removed', ...renewed };
    });
  },
});

function printIdentity({ id, issuer, email, createdAt, usedAt }: Identity): z.input<typeof IdentityItem> {
  return {
    id,
    issuer,
    ...(email !== null && { email }),
    created_at: createdAt.toISOString(),
    ...(usedAt !== null && { used_at: usedAt.toISOString() }),
  };
}

export const IDENTITY_ROUTES: readonly Route[] = [listOwnIdentities, linkOwnIdentity, unlinkOwnIdentity];
