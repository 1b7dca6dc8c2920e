// Calls that run while their account is being locked or changed.

import { beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import type { Person } from '../../../src/features/oidc/rules.ts';
import { admitPerson } from '../../../src/features/oidc/sign-in.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { lockCredentials, makeLink, setPassword } from '../../../src/store/people/credentials.ts';
import { linkIdentity, unlinkIdentities } from '../../../src/store/people/identities.ts';
import { lockOut } from '../../../src/store/people/lock-out.ts';
import { endSessions, listSessions, openSession } from '../../../src/store/people/sessions.ts';
import { confirmTotp } from '../../../src/store/people/totp.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { appCode, Browser, givePassword, signIn } from '../../support/api/people.ts';

const api = sharedTestApi();
const owner = () => api.accountIds.owner;
const ANN: Person = {
  issuer: 'https://id.test',
  subject: 'ann',
  email: null,
  isEmailVerified: false,
  name: null,
  isOperator: undefined,
  isFresh: true,
};

beforeEach(async () => {
  await api.query`truncate sessions, account_identities, account_totp cascade`;
  await api.query`update accounts set active = true where id = ${owner()}`;
  await givePassword(api, 'owner');
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const waiting = () => api.query`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Starts `call` while `change` is not committed yet, and commits when the call waits for it. */
async function during<T>(change: (trx: Database) => Promise<unknown>, call: () => Promise<T>): Promise<T> {
  const { running } = await api.db.transaction().execute(async (trx) => {
    await change(trx);
    const running = call();
    while ((await waiting()).length === 0) await pause();
    return { running };
  });
  return await running;
}

const admit = () =>
  inTransaction(api.db, (trx) =>
    admitPerson(trx, ANN, {
      rules: { link: [], create: [] },
      address: '192.0.2.1',
      log: undefined as never,
    }),
  );

it('a sign-in with an identity is refused if the account is locked meanwhile', async () => {
  await linkIdentity(api.db, { ...ANN, accountId: owner() });
  expect(await during((trx) => lockOut(trx, owner()), admit)).toMatchObject({
    body: { code: 'account_suspended' },
  });
});

it('a sign-in with an identity is refused if the identity is removed meanwhile', async () => {
  await linkIdentity(api.db, { ...ANN, accountId: owner() });
  const remove = async (trx: Database) => {
    await lockCredentials(trx, { accountId: owner() });
    await unlinkIdentities(trx, owner());
  };
  expect(await during(remove, admit)).toBeInstanceOf(Problem);
});

it('a sign-in with a password is refused if the account is locked meanwhile', async () => {
  const { status } = await during(
    (trx) => lockOut(trx, owner()),
    () => new Browser(api).login('owner'),
  );
  expect(status).toBe(401);
  expect(await api.query`select from sessions`).toEqual([]);
});

it('a sign-in with a password is refused if the password is replaced meanwhile', async () => {
  const replace = async (trx: Database) => {
    await setPassword(trx, owner(), 'another hash');
    await endSessions(trx, owner());
  };
  expect((await during(replace, () => new Browser(api).login('owner'))).status).toBe(401);
});

it('a sign-in with a password is refused if the account becomes an operator meanwhile', async () => {
  const change = (trx: Database) => updateAccount(trx, owner(), { isAdmin: true });
  const { status, body } = await during(change, () => new Browser(api).login('owner'));
  await updateAccount(api.db, owner(), { isAdmin: false });
  expect([status, body.code]).toEqual([400, 'wrong_state']);
});

describe('two-step sign-in that is turned on meanwhile', () => {
  /** Begins to turn it on. Returns the first code. */
  const begin = async (browser: Browser) =>
    appCode((await browser.ask('POST', '/auth/otp/enable')).body.secret);
  const confirm = async (trx: Database) => {
    await confirmTotp(trx, owner(), []);
    await lockCredentials(trx, { accountId: owner() });
  };

  it.each(['a password', 'a link'])('refuses a sign-in with %s', async (way) => {
    await begin(await signIn(api, 'owner'));
    const token = await makeLink(api.db, { kind: 'sign-in', accountId: owner() });
    const { status, body } = await during(confirm, () =>
      way === 'a link'
        ? new Browser(api).ask('POST', '/auth/login', { token })
        : new Browser(api).login('owner'),
    );
    expect([status, body.code]).toEqual([400, 'wrong_state']);
  });

  it('ends the session of a sign-in that has not finished', async () => {
    const browser = await signIn(api, 'owner');
    const otp = await begin(browser);
    const signInHere = async (trx: Database) => {
      await lockCredentials(trx, { accountId: owner() });
      await openSession(trx, { accountId: owner(), carrier: 'bearer', address: '192.0.2.1', userAgent: 'x' });
    };
    const { status } = await during(signInHere, () => browser.ask('POST', '/auth/otp/confirm', { otp }));
    expect([status, await listSessions(api.db, owner())]).toMatchObject([200, [{ carrier: 'cookie' }]]);
  });
});

it('no API key is created if the account is locked meanwhile', async () => {
  const browser = await signIn(api, 'owner');
  const { status, body } = await during(
    (trx) => lockOut(trx, owner()),
    () => browser.ask('POST', '/users/me/keys', { name: 'kept' }),
  );
  expect([status, body.code]).toEqual([403, 'account_suspended']);
  expect(await api.query`select from api_keys where name = 'kept'`).toEqual([]);
});
