// Signing in with the identity provider. The console opens the provider's page. The provider returns a code to the
// console, which sends it with the cookie of the browser that began.

import type { z } from 'zod';
import { Problem, problem, unauthorized } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { everyone, type Route, route, session } from '../../api/calls/route.ts';
import { judgeCode } from '../../api/people/second-factor.ts';
import { signInAs } from '../../api/people/sessions.ts';
import { Message } from '../../api/schemas/fields.ts';
import { SignedIn } from '../../api/schemas/people.ts';
import { makeSecretText } from '../../store/accounts/hashed-secrets.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { dropProof, findIdentity, saveProof } from '../../store/people/identities.ts';
import { recordAuthentication } from '../../store/people/sessions.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { providerFor, providerUnavailable, type Redeemed, redeemFlow } from './redeem.ts';
import { Begin, Begun, FinishBody, Offer, ReturnedBody } from './schema.ts';
import { OIDC } from './services.ts';
import { admitIdentity, admitPerson, findAccountOf } from './sign-in.ts';

const TAG = 'Signing in';

const getProvider = route(everyone, {
  method: 'GET',
  path: '/auth/oidc',
  operationId: 'getIdentityProvider',
  tag: TAG,
  summary: 'Returns the identity provider (OpenID Connect) with which people may sign in.',
  response: Offer,
  run({ api }) {
    const service = api.services.get(OIDC);
    if (service === undefined) return { enabled: false };
    const signOutUrl = service.provider.signOutUrl();
    return {
      enabled: true,
      name: service.name,
      confirms: service.confirms,
      ...(signOutUrl !== undefined && { sign_out_url: signOutUrl }),
    };
  },
});

const begin = route(everyone, {
  method: 'POST',
  path: '/auth/oidc/begin',
  operationId: 'beginIdentity',
  audit: { none: 'nothing changes until the provider returns' },
  tag: TAG,
  summary: 'Begins a sign-in with the identity provider: returns the URL of its page.',
  description:
    'Sets a cookie for ten minutes. The provider then opens `/console/oidc` with the parameters that finish the sign-in in the same browser. A second call replaces the first.',
  body: Begin,
  response: Begun,
  problems: ['oidc_unavailable'],
  async run({ api, people, body, log, setCookie }) {
    const service = providerFor(api, body.purpose);
    if (service instanceof Problem) return service;
    const flow = makeSecretText('flow_');
    try {
      const url = await service.provider.signInUrl(flow, body.purpose);
      setCookie(people.cookies.set('flow', flow));
      return { url };
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'the identity provider cannot be reached');
      return providerUnavailable();
    }
  },
});

type FinishCall = CallOf<'public', unknown, unknown, z.output<typeof FinishBody>>;
type Finished = z.output<typeof SignedIn> | Problem;

const finish = route(everyone, {
  method: 'POST',
  path: '/auth/oidc/finish',
  operationId: 'finishIdentity',
  audit: { inHandler: 'session.begin' },
  tag: TAG,
  summary: 'Signs in with the parameters that the identity provider returned. The session is a cookie.',
  description:
    'If two-step sign-in is on, the first call returns `otp_required`. Repeat it with `otp` within five minutes.',
  body: FinishBody,
  response: SignedIn,
  problems: ['wrong_state', 'otp_required', 'account_suspended', 'oidc_refused', 'oidc_unavailable'],
  async run(call) {
    const redeemed = await redeemFlow(call, 'sign-in');
    return redeemed instanceof Problem ? redeemed : await signIn(call, redeemed);
  },
});

/** Signs in if the code of two-step sign-in is correct or not needed. Otherwise keeps what the provider has confirmed. */
async function signIn(call: FinishCall, { person, flow, rules }: Redeemed): Promise<Finished> {
  const { api, people, asker, body, log, setCookie } = call;
  // Before the transaction, because attempts are counted on another connection.
  const known = await findAccountOf(api.db, person, rules);
  const codeOf = known?.hasTotp === true && known.account.active ? known.account.id : undefined;
  if (codeOf !== undefined) {
    const refused = await judgeCode(api.db, people, asker, { accountId: codeOf, code: body.otp });
    if (refused !== undefined && body.otp === undefined)
      await saveProof(api.db, codeOf, { cookie: flow, identity: person });
    if (refused !== undefined) return refused;
  }
  const finished = await inTransaction<Finished>(api.db, async (trx) => {
    const who = await admitPerson(trx, person, { rules, address: asker.address, log });
    if (who instanceof Problem) return rollBackTo(who);
    await dropProof(trx, who.account.id);
    const signedIn = await signInAs(trx, call, who.account.id, {
      by: 'identity',
      bearer: false,
      otp: who.account.id === codeOf,
      isFresh: person.isFresh,
    });
    return signedIn instanceof Problem ? rollBackTo(signedIn) : signedIn;
  });
  if (!(finished instanceof Problem)) setCookie(people.cookies.clear('flow'));
  return finished;
}

const confirm = route(session(), {
  method: 'POST',
  path: '/auth/oidc/confirm',
  operationId: 'confirmIdentity',
  audit: { inHandler: 'session.confirm' },
  tag: TAG,
  summary: 'Confirms your session with the identity provider instead of a password.',
  description:
    'For 15 minutes, allows the calls that otherwise respond `reauthenticate`. Begin with `purpose` set to `confirm`. The provider must report that you authenticated just now.',
  idempotent: false,
  body: ReturnedBody,
  response: Message,
  problems: ['wrong_state', 'oidc_refused', 'oidc_unavailable'],
  async run(call) {
    const { api, people, caller, asker, log, setCookie } = call;
    const redeemed = await redeemFlow(call, 'confirm');
    if (redeemed instanceof Problem) return redeemed;
    const { person } = redeemed;
    const { id, accountId } = caller.credential.session;
    const identity = await findIdentity(api.db, person);
    if (identity?.accountId !== accountId)
      return problem('oidc_refused', 'this identity is not linked to your account');
    if (!person.isFresh)
      return problem(
        'oidc_refused',
        'the identity provider did not report that you authenticated just now: confirm with your password',
      );
    const refused = await inTransaction(api.db, async (trx) => {
      const who = await admitIdentity(trx, identity, person, { address: asker.address, log });
      if (who instanceof Problem) return rollBackTo(who);
      if (who.account.isAdmin !== caller.account.isAdmin)
        return unauthorized('your rights have changed: sign in again');
      await recordAuthentication(trx, id);
      await writeAudit(trx, { action: 'session.confirm', by: asActor(caller), accountId });
      return undefined;
    });
    setCookie(people.cookies.clear('flow'));
    return refused ?? { message: 'confirmed for 15 minutes' };
  },
});

export const OIDC_ROUTES: readonly Route[] = [getProvider, begin, finish, confirm];
