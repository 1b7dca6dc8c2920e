// POST /auth/login, logout and confirm: sign in with a password or a link, sign out, and confirm the password again.
// Also lists and ends the sessions of an account.

import { z } from 'zod';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import { loadCredentials, lockCredentials, takeLink } from '../../../store/people/credentials.ts';
import {
  endSession,
  endSessions,
  listSessions,
  recordAuthentication,
} from '../../../store/people/sessions.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { invalid, notFound, Problem, problem, tooBusy, unauthorized } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import type { CallOf } from '../../calls/call.ts';
import { everyone, type Route, route, session } from '../../calls/route.ts';
import { isPassword } from '../../people/passwords.ts';
import { judgeCode } from '../../people/second-factor.ts';
import { accountChanged, isSessionValid, sessionEndsAt, signInAs } from '../../people/sessions.ts';
import { idText, Message } from '../../schemas/fields.ts';
import { Bearer, Code, GivenPassword, LinkToken, SessionItem, SignedIn } from '../../schemas/people.ts';

const NEEDS = 'expected email and password, or the token of a link';

const LoginBody = z
  .strictObject({
    email: z.string().max(254).optional(),
    password: GivenPassword.optional(),
    token: LinkToken.optional(),
    otp: Code.optional(),
    bearer: Bearer,
  })
  .refine(
    ({ email, password, token }) =>
      token === undefined
        ? email !== undefined && password !== undefined
        : email === undefined && password === undefined,
    NEEDS,
  );

type LoginCall = CallOf<'public', unknown, unknown, z.output<typeof LoginBody>>;
type Outcome = z.output<typeof SignedIn> | Problem;

/** An email address without an account gets the same message after the same time. */
const WRONG = 'the email address or the password is wrong';

const login = route(everyone, {
  method: 'POST',
  path: '/auth/login',
  operationId: 'login',
  audit: { inHandler: 'session.begin' },
  tag: 'Signing in',
  summary: 'Signs in.',
  description:
    'Signs in with email address and password, or with the token of a sign-in link. Returns the session as a cookie, or as a token with `bearer`. After ten failures in 15 minutes from one address, responds 429.',
  body: LoginBody,
  response: SignedIn,
  problems: ['wrong_state', 'otp_required', 'account_suspended', 'oidc_required'],
  async run(call) {
    const { token } = call.body;
    const outcome = await call.people.turns.run<Outcome>(call.asker.address, () =>
      token === undefined ? loginByPassword(call) : loginByLink(call, token),
    );
    return outcome ?? tooBusy();
  },
});

async function loginByPassword(call: LoginCall): Promise<Outcome> {
  const { api, people, asker, body } = call;
  const { email = '', password = '', otp, bearer } = body;
  const attempt = await people.attempts.forEmail(asker.address, email, asker.cookies.device);
  if (attempt instanceof Problem) return attempt;
  const who = await attempt.run(async () => {
    const found = await loadCredentials(api.db, { email });
    return (await isPassword(found?.passwordHash ?? null, password)) ? found : undefined;
  });
  if (who === undefined) return unauthorized(WRONG);
  const { account, hasTotp } = who;
  if (!account.active) return problem('account_suspended', 'account is inactive');
  if (account.isAdmin && people.operatorsNeedProvider) return needsProvider();
  if (hasTotp) {
    const refused = await judgeCode(api.db, people, asker, { accountId: account.id, code: otp });
    if (refused !== undefined) return refused;
  }
  return await inTransaction<Outcome>(api.db, async (trx) => {
    // The owner may have replaced the password meanwhile, which ends all sessions.
    const now = await lockCredentials(trx, { accountId: account.id });
    if (now?.passwordSetAt !== who.passwordSetAt) return unauthorized(WRONG);
    if (now?.account.isAdmin !== account.isAdmin) return accountChanged();
    return await signInAs(trx, call, account.id, { by: 'password', bearer, otp: hasTotp });
  });
}

function needsProvider(): Problem {
  return problem('oidc_required', 'operators use the identity provider, not a password');
}

/** Signs in with a link. If the call is refused, the link can still be used. */
async function loginByLink(call: LoginCall, token: string): Promise<Outcome> {
  const { api, people, asker, body } = call;
  return await inTransaction<Outcome>(api.db, async (trx) => {
    const link = await takeLink(trx, 'sign-in', token);
    if (link?.accountId == null) return unauthorized('this link was already used or has expired');
    const who = await loadCredentials(trx, { accountId: link.accountId });
    const otp = who?.hasTotp === true;
    if (otp) {
      const refused = await judgeCode(trx, people, asker, { accountId: link.accountId, code: body.otp });
      if (refused !== undefined) rollBackTo(refused);
    }
    const signedIn = await signInAs(trx, call, link.accountId, { by: 'link', bearer: body.bearer, otp });
    return signedIn instanceof Problem ? rollBackTo(signedIn) : signedIn;
  });
}

const logout = route(session(), {
  method: 'POST',
  path: '/auth/logout',
  operationId: 'logout',
  audit: 'session.end',
  tag: 'Signing in',
  summary: 'Signs out: ends this session.',
  idempotent: false,
  response: Message,
  async run({ api, people, caller, setCookie, audit }) {
    const { id, accountId, carrier } = caller.credential.session;
    await endSession(api.db, accountId, id);
    audit({ before: { session: id } });
    if (carrier === 'cookie') setCookie(people.cookies.clear('session'));
    return { message: 'signed out' };
  },
});

const confirm = route(session(), {
  method: 'POST',
  path: '/auth/confirm',
  operationId: 'confirmPassword',
  audit: { inHandler: 'session.confirm' },
  tag: 'Signing in',
  summary: 'Confirms your password.',
  description: 'For 15 minutes, allows the calls that otherwise respond `reauthenticate`.',
  idempotent: false,
  body: z.strictObject({ password: GivenPassword }),
  response: Message,
  problems: ['wrong_state', 'oidc_required'],
  async run({ api, people, asker, caller, body }) {
    const { id, accountId } = caller.credential.session;
    const outcome = await people.turns.run<{ message: string } | Problem>(asker.address, async () => {
      const who = await loadCredentials(api.db, { accountId });
      if (who?.passwordHash == null)
        return problem('wrong_state', 'the account has no password yet: use a link');
      const attempt = await people.attempts.forSession(asker.address, { id, accountId });
      if (attempt instanceof Problem) return attempt;
      if (who.account.isAdmin && people.operatorsConfirmWithProvider) return needsProvider();
      const { passwordHash } = who;
      if (!(await attempt.run(() => isPassword(passwordHash, body.password))))
        return invalid([{ field: 'password', error: 'is wrong' }]);
      await inTransaction(api.db, async (trx) => {
        await recordAuthentication(trx, id);
        await writeAudit(trx, { action: 'session.confirm', by: asActor(caller), accountId });
      });
      return { message: 'confirmed for 15 minutes' };
    });
    return outcome ?? tooBusy();
  },
});

const listOwnSessions = route(session(), {
  method: 'GET',
  path: '/users/me/sessions',
  operationId: 'listSessions',
  tag: 'Your account',
  summary: 'Lists your sessions, newest first.',
  response: z.array(SessionItem),
  async run({ api, caller }) {
    const { account, credential } = caller;
    const sessions = await listSessions(api.db, account.id);
    return sessions
      .filter((session) => isSessionValid(session, account, session.now))
      .map((session) => ({
        id: session.id,
        current: session.id === credential.session.id,
        bearer: session.carrier === 'bearer',
        ...(session.address !== null && { address: session.address }),
        ...(session.userAgent !== null && { user_agent: session.userAgent }),
        created_at: session.createdAt.toISOString(),
        used_at: session.usedAt.toISOString(),
        expires_at: sessionEndsAt(session, account).toISOString(),
      }));
  },
});

const endOneSession = route(session(), {
  method: 'DELETE',
  path: '/users/me/sessions/{id}',
  operationId: 'endSession',
  audit: 'session.end',
  tag: 'Your account',
  summary: 'Ends a session.',
  params: z.object({ id: idText }),
  response: Message,
  async run({ api, caller, params, audit }) {
    const isEnded = await endSession(api.db, caller.account.id, params.id);
    if (!isEnded) return notFound('session');
    audit({ before: { session: params.id } });
    return { message: 'the session was ended' };
  },
});

const endOtherSessions = route(session(), {
  method: 'DELETE',
  path: '/users/me/sessions',
  operationId: 'endOtherSessions',
  audit: 'session.end',
  tag: 'Your account',
  summary: 'Ends all sessions except this one.',
  response: Message,
  async run({ api, caller, audit }) {
    const { account, credential } = caller;
    const ended = await endSessions(api.db, account.id, { except: credential.session.id });
    audit(ended === 0 ? undefined : { before: { ended } });
    return { message: `ended ${ended} sessions` };
  },
});

export const SESSION_ROUTES: readonly Route[] = [
  login,
  logout,
  confirm,
  listOwnSessions,
  endOtherSessions,
  endOneSession,
];
