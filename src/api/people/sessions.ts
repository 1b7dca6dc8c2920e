// Decides whether a session is still valid, and opens one for a person who has authenticated.

import { writeAudit } from '../../store/audit/write-audit.ts';
import { lockCredentials } from '../../store/people/credentials.ts';
import {
  endSessionOf,
  endSessions,
  openSession,
  rotateSession,
  type Session,
} from '../../store/people/sessions.ts';
import { rememberDevice } from '../../store/people/sign-in-attempts.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Problem, problem, unauthorized } from '../answers/problem.ts';
import type { Asker, People } from './people.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const MOST_AGE_MS = 90 * DAY_MS;
const UNUSED_MS = 30 * DAY_MS;
const ADMIN_UNUSED_MS = 12 * HOUR_MS;
const FRESH_MS = 15 * MINUTE_MS;
/** Allowed clock difference. Later times were recorded before the clock was set back, and are not accepted. */
const SKEW_MS = 5 * MINUTE_MS;

interface Times {
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly authenticatedAt: Date | null;
}

interface Rights {
  readonly isAdmin: boolean;
}

export function isSessionValid(times: Times, rights: Rights, now: Date): boolean {
  const nowMs = now.getTime();
  const newest = Math.max(times.createdAt.getTime(), times.usedAt.getTime());
  return nowMs < sessionEndsAt(times, rights).getTime() && nowMs > newest - SKEW_MS;
}

/** Returns the time at which the session ends if it is not used before. */
export function sessionEndsAt({ createdAt, usedAt }: Times, { isAdmin }: Rights): Date {
  const unusedMs = isAdmin ? ADMIN_UNUSED_MS : UNUSED_MS;
  return new Date(Math.min(createdAt.getTime() + MOST_AGE_MS, usedAt.getTime() + unusedMs));
}

/** Returns true if the person authenticated recently enough for a call that requires it. */
export function isRecentlyAuthenticated({ authenticatedAt }: Times, now: Date): boolean {
  if (authenticatedAt === null) return false;
  const ageMs = now.getTime() - authenticatedAt.getTime();
  return ageMs < FRESH_MS && ageMs > -SKEW_MS;
}

interface SigningIn {
  readonly people: People;
  readonly asker: Asker;
  readonly setCookie: (text: string) => void;
}

/** Ends the browser's previous session, so that nobody can trick a person into a session they control. */
export async function signInAs(
  trx: Database,
  { people, asker, setCookie }: SigningIn,
  accountId: number,
  {
    by,
    bearer,
    otp = false,
    isFresh = true,
  }: {
    readonly by: 'password' | 'link' | 'registration' | 'identity';
    readonly bearer: boolean;
    /** True if the person entered a code of two-step sign-in. */
    readonly otp?: boolean;
    readonly isFresh?: boolean;
  },
) {
  const who = await lockCredentials(trx, { accountId });
  if (who === undefined) return unauthorized('the account no longer exists');
  const { account, passwordHash, hasTotp } = who;
  if (!account.active) return problem('account_suspended', 'account is inactive');
  if (hasTotp && !otp) return accountChanged(); // two-step sign-in was just turned on
  const { address, userAgent, cookies } = asker;
  const token = await openSession(trx, {
    accountId,
    carrier: bearer ? 'bearer' : 'cookie',
    address,
    userAgent,
    isFresh,
  });
  await writeAudit(trx, {
    action: 'session.begin',
    by: { kind: 'session', accountId, address },
    accountId,
    after: { by, otp, bearer },
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

export function accountChanged(): Problem {
  return problem('wrong_state', 'the account was changed meanwhile: start again');
}

/**
 * Must run after a change of password or second factor. All other sessions end, and this one gets a new token. Locks the
 * account, so that a concurrent sign-in either opens its session before, or finds the change.
 */
export async function renewSession(
  trx: Database,
  { people, setCookie }: Pick<SigningIn, 'people' | 'setCookie'>,
  { id, accountId, carrier }: Session,
): Promise<{ token?: string } | Problem> {
  await lockCredentials(trx, { accountId });
  await endSessions(trx, accountId, { except: id });
  const token = await rotateSession(trx, id);
  if (token === undefined) return unauthorized('the session has ended');
  if (carrier === 'bearer') return { token };
  setCookie(people.cookies.set('session', token));
  return {};
}
