// Signs somebody in who has proved who they are, or gives the session of somebody a new token.

import { writeAudit } from '../../store/audit/write-audit.ts';
import { loadCredentials } from '../../store/people/credentials.ts';
import { rememberDevice } from '../../store/people/devices.ts';
import {
  endOtherSessions,
  endSessionOf,
  openSession,
  rotateSession,
  type Session,
} from '../../store/people/sessions.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Problem, problem, unauthorized } from '../answers/problem.ts';
import type { Asker, People } from './people.ts';

interface SigningIn {
  readonly people: People;
  readonly asker: Asker;
  readonly setCookie: (text: string) => void;
}

/**
 * A session is always a new one, and the one that the browser had ends: nobody can make somebody sign in to a session that he
 * knows.
 */
export async function signInAs(
  trx: Database,
  { people, asker, setCookie }: SigningIn,
  accountId: number,
  { by, bearer }: { readonly by: 'password' | 'link' | 'registration'; readonly bearer: boolean },
) {
  const who = await loadCredentials(trx, { accountId });
  if (who === undefined) return unauthorized('the account is gone');
  const { account, passwordHash, hasTotp } = who;
  if (!account.active) return problem('account_suspended', 'account is inactive');
  const { address, userAgent, cookies } = asker;
  const token = await openSession(trx, {
    accountId,
    carrier: bearer ? 'bearer' : 'cookie',
    address,
    userAgent,
  });
  await writeAudit(trx, {
    action: 'session.begin',
    by: { kind: 'session', accountId, address },
    accountId,
    after: { by, otp: hasTotp, bearer },
  });
  if (!bearer) {
    if (cookies.session !== undefined) await endSessionOf(trx, cookies.session);
    setCookie(people.cookies.set('session', token));
    setCookie(people.cookies.set('device', await rememberDevice(trx, accountId, cookies.device)));
  }
  return {
    user_id: account.id,
    email: account.email,
    ...(account.name !== null && { name: account.name }),
    admin: account.isAdmin,
    password_set: passwordHash !== null,
    otp: hasTotp,
    ...(bearer && { token }),
  };
}

/** After a change of what proves who somebody is: all other sessions end, and this one gets another token. */
export async function renewSession(
  trx: Database,
  { people, setCookie }: Pick<SigningIn, 'people' | 'setCookie'>,
  { id, accountId, carrier }: Session,
): Promise<{ token?: string } | Problem> {
  await endOtherSessions(trx, accountId, id);
  const token = await rotateSession(trx, id);
  if (token === undefined) return unauthorized('the session has ended');
  if (carrier === 'bearer') return { token };
  setCookie(people.cookies.set('session', token));
  return {};
}
