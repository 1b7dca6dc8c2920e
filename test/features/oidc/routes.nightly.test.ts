// Signs in with a real identity provider, and attacks each step.

import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { addIdentityCommands } from '../../../src/features/oidc/cli.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { ownApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { appCode, Browser, emailOf, givePassword, PASSWORD, signIn } from '../../support/api/people.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import {
  CLIENT,
  comeBack,
  type IdentityProvider,
  startIdentityProvider,
} from '../../support/oidc/identity-provider.ts';

const idp: IdentityProvider = await startIdentityProvider();
afterAll(() => idp.stop());

const start = (more: Parameters<typeof startTestApi>[0] = {}) =>
  startTestApi({
    trustedProxies: ['127.0.0.1/32'],
    ...more,
    oidc: { oidcIssuer: idp.issuer, ...CLIENT, ...more.oidc },
  });

const api = ownApi(() => start({ oidc: { oidcLink: ['zonefleet.test'], oidcCreate: ['new.test'] } }));

const ann = (more: object = {}) => ({
  sub: 'ann-1',
  email: 'owner@zonefleet.test',
  email_verified: true,
  name: 'Ann',
  ...more,
});

/** As Google and Entra do by default. */
const withoutAuthTime: IdentityProvider['changeToken'] = ({ auth_time: _, ...claims }, sign) => sign(claims);

const finish = async (browser: Browser, more: object = {}) =>
  await browser.ask('POST', '/auth/oidc/finish', { ...(await comeBack(browser)), ...more });
const actions = (on: TestApi = api) =>
  on.query<{ action: string; after: object | null }>`select action, after from audit_log order by id`;

beforeEach(async () => {
  idp.person = ann();
  idp.changeToken = undefined;
  idp.failure = undefined;
  await api.query`truncate sign_in_failures, sessions, account_identities, identity_proofs, audit_log cascade`;
});

describe('signing in with the provider', () => {
  it('links the verified address once, and then follows the identity when the address changes', async () => {
    const browser = new Browser(api);
    const first = await finish(browser);
    expect([first.status, first.body]).toMatchObject([200, { user_id: api.accountIds.owner, otp: false }]);
    expect(browser.cookies.has('__Host-flow')).toBe(false);
    expect((await browser.ask('GET', '/users/me')).body).toMatchObject({ identity: true });
    expect(await actions()).toMatchObject([
      {
        action: 'identity.link',
        after: { issuer: idp.issuer, subject: 'ann-1', email: 'owner@zonefleet.test' },
      },
      { action: 'session.begin', after: { by: 'identity', otp: false, bearer: false } },
    ]);
    idp.person = ann({ email: 'admin@zonefleet.test' }); // the address of another account
    const second = await finish(new Browser(api));
    expect(second.body.user_id).toBe(api.accountIds.owner);
  });

  it.each([
    ['an unverified address', { email_verified: false }],
    ['an address without a statement about it', { email_verified: undefined }],
    ['a statement that is a text', { email_verified: 'true' }],
    ['an address in another domain', { email: 'owner@elsewhere.test' }],
    ['an address in a domain that ends alike', { email: 'owner@evil-zonefleet.test' }],
    ['no address', { email: undefined }],
    ['an address with a line break', { email: 'owner@zonefleet.test\n' }],
  ])('does not link %s', async (_, claims) => {
    idp.person = ann(claims);
    const { status, body } = await finish(new Browser(api));
    expect([status, body.code]).toEqual([403, 'oidc_refused']);
    expect(await api.query`select from account_identities`).toEqual([]);
  });

  it('does not link an account whose address is not confirmed, or that has another identity', async () => {
    await api.query`update accounts set email_confirmed_at = null where id = ${api.accountIds.owner}`;
    expect((await finish(new Browser(api))).body.error).toMatch(/not confirmed/);
    await api.query`update accounts set email_confirmed_at = now() where id = ${api.accountIds.owner}`;
    expect((await finish(new Browser(api))).status).toBe(200);
    idp.person = ann({ sub: 'ann-2' });
    expect((await finish(new Browser(api))).body.error).toMatch(/another identity/);
  });

  it('creates an account for an allowed domain only', async () => {
    idp.person = { sub: 'neil', email: 'Neil@New.test', email_verified: true, name: ' Neil\u0007 N ' };
    const { body } = await finish(new Browser(api));
    expect(body).toMatchObject({
      email: 'Neil@New.test',
      name: 'Neil  N',
      admin: false,
      password_set: false,
    });
    expect((await actions()).map(({ action }) => action)).toEqual([
      'account.register',
      'identity.link',
      'session.begin',
    ]);
    idp.person = { sub: 'nora', email: 'nora@zonefleet.test', email_verified: true };
    expect((await finish(new Browser(api))).status).toBe(403);
  });

  it('ends the previous session of the browser, even that of another account', async () => {
    const browser = await signIn(api, 'stranger');
    const before = browser.cookies.get('__Host-session') as string;
    expect((await finish(browser)).status).toBe(200);
    const old = new Browser(api);
    old.cookies.set('__Host-session', before);
    expect((await old.ask('GET', '/users/me')).status).toBe(401);
  });

  it('refuses an inactive account', async () => {
    await finish(new Browser(api));
    await api.query`update accounts set active = false where id = ${api.accountIds.owner}`;
    expect((await finish(new Browser(api))).body.code).toBe('account_suspended');
    await api.query`update accounts set active = true where id = ${api.accountIds.owner}`;
  });

  it('never sends the provider a page of the request, and fixes the page to return to', async () => {
    const { body } = await new Browser(api).ask(
      'POST',
      '/auth/oidc/begin?next=https://evil.test',
      {},
      { headers: { host: 'evil.test' } },
    );
    expect(body.code).toBe('validation_failed');
    const begun = await new Browser(api).ask(
      'POST',
      '/auth/oidc/begin',
      {},
      { headers: { host: 'evil.test' } },
    );
    const url = new URL(begun.body.url);
    expect(url.searchParams.get('redirect_uri')).toBe('https://dns.zonefleet.test/console/oidc');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  });
});

it('signs in a person whom an operator linked, with a final slash in OIDC_ISSUER', async () => {
  const settings = { oidcIssuer: `${idp.issuer}/` };
  const own = await start({ oidc: settings });
  try {
    const args = ['identity', 'link', emailOf('editor'), 'by hand'];
    expect((await runCommands(addIdentityCommands, args, own.database.url, settings)).stderr).toBe('');
    idp.person = { sub: 'by hand' };
    const browser = new Browser(own);
    const { body } = await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser));
    expect(body.user_id).toBe(own.accountIds.editor);
  } finally {
    await own.stop();
  }
});

describe('an attacker', () => {
  it('cannot finish their own sign-in in the browser of another person', async () => {
    const attacker = new Browser(api);
    const returned = await comeBack(attacker);
    const victim = new Browser(api);
    expect((await victim.ask('POST', '/auth/oidc/finish', returned)).body.code).toBe('wrong_state');
    await victim.ask('POST', '/auth/oidc/begin', {});
    expect((await victim.ask('POST', '/auth/oidc/finish', returned)).body.code).toBe('wrong_state');
    const foreign = { origin: 'https://evil.test' };
    expect((await attacker.ask('POST', '/auth/oidc/finish', returned, foreign)).body.code).toBe(
      'foreign_origin',
    );
    expect((await attacker.ask('POST', '/auth/oidc/begin', {}, foreign)).body.code).toBe('foreign_origin');
    expect((await attacker.ask('POST', '/auth/oidc/finish', returned)).status).toBe(200);
  });

  it('cannot use a code twice, or in a browser that began another sign-in', async () => {
    const browser = new Browser(api);
    const returned = await comeBack(browser);
    const flow = browser.cookies.get('__Host-flow') as string;
    expect((await browser.ask('POST', '/auth/oidc/finish', returned)).status).toBe(200);
    browser.cookies.set('__Host-flow', flow);
    expect((await browser.ask('POST', '/auth/oidc/finish', returned)).body.code).toBe('oidc_refused');

    const victim = await comeBack(new Browser(api));
    const other = new Browser(api);
    const begun = await other.ask('POST', '/auth/oidc/begin', {});
    const state = new URL(begun.body.url).searchParams.get('state') as string;
    const injected = await other.ask('POST', '/auth/oidc/finish', { ...victim, state });
    expect(injected.body.code).toBe('oidc_refused'); // another code_verifier
  });

  it('cannot use a response for another purpose', async () => {
    const browser = await signIn(api, 'owner');
    const returned = await comeBack(browser);
    expect((await browser.ask('POST', '/users/me/identities', returned)).body.code).toBe('wrong_state');
    const toConfirm = await comeBack(browser, 'confirm');
    expect((await browser.ask('POST', '/auth/oidc/finish', toConfirm)).body.code).toBe('wrong_state');
  });

  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const now = () => Math.floor(Date.now() / 1000);
  it.each<[string, NonNullable<IdentityProvider['changeToken']>]>([
    ['another nonce', (claims, sign) => sign({ ...claims, nonce: 'another' })],
    ['no nonce', ({ nonce: _, ...claims }, sign) => sign(claims)],
    ['another audience', (claims, sign) => sign({ ...claims, aud: 'another-client' })],
    ['a second audience without azp', (claims, sign) => sign({ ...claims, aud: ['zonefleet', 'another'] })],
    ['another issuer', (claims, sign) => sign({ ...claims, iss: 'https://evil.test' })],
    ['a past expiry', (claims, sign) => sign({ ...claims, exp: now() - 120 })],
    ['a start in the future', (claims, sign) => sign({ ...claims, nbf: now() + 120 })],
    ['no subject', ({ sub: _, ...claims }, sign) => sign(claims)],
    ['the signature of another key', (claims, sign) => sign(claims, {}, stranger)],
    ['the id of an unknown key', (claims, sign) => sign(claims, { kid: 'two' })],
    ['the algorithm none', (claims, sign) => sign(claims, { alg: 'none' }).replace(/[^.]*$/, '')],
    ['the algorithm HS256', (claims, sign) => sign(claims, { alg: 'HS256' })],
    ['the subject of another person', (claims, sign) => sign({ ...claims, sub: 'bob' })], // userinfo is about ann
    ['no signature', (claims, sign) => sign(claims).replace(/[^.]*$/, '')],
  ])('cannot sign in with an ID token with %s', async (_, changeToken) => {
    idp.changeToken = changeToken;
    const browser = new Browser(api);
    const { status, body } = await finish(browser);
    expect([status, body.code]).toEqual([403, 'oidc_refused']);
    expect(browser.cookies.has('__Host-session')).toBe(false);
    expect(await api.query`select from sessions`).toEqual([]);
    const lines = JSON.stringify(api.logged);
    expect(lines).not.toMatch(/eyJ|"stack"|ses_|flow_/);
  });

  it('is limited to 30 refused codes per minute from one network, while the person signs in from another', async () => {
    const browser = new Browser(api);
    const returned = await comeBack(browser);
    const answers: number[] = [];
    for (let i = 0; i < 31; i++)
      answers.push(
        (await browser.ask('POST', '/auth/oidc/finish', { ...returned, code: `guess-${i}` })).status,
      );
    expect(answers).toEqual([...Array(30).fill(403), 429]);
    expect((await finish(new Browser(api))).status).toBe(200);
  });
});

it('accepts clocks that differ by less than a minute', async () => {
  const now = Math.floor(Date.now() / 1000);
  idp.changeToken = (claims, sign) => sign({ ...claims, exp: now - 40, nbf: now + 40 });
  expect((await finish(new Browser(api))).status).toBe(200);
});

describe('two-step sign-in', () => {
  it('requires a code after the sign-in at the provider, and accepts it once', async () => {
    const setup = await signIn(api, 'editor');
    const { secret } = (await setup.ask('POST', '/auth/otp/enable')).body;
    await setup.ask('POST', '/auth/otp/confirm', { otp: appCode(secret) });
    idp.person = ann({ sub: 'eve', email: emailOf('editor') });
    const browser = new Browser(api);
    const returned = await comeBack(browser);
    const send = (more: object) => browser.ask('POST', '/auth/oidc/finish', { ...returned, ...more });
    expect((await send({})).body.code).toBe('otp_required');
    expect(await api.query`select from account_identities`).toEqual([]); // linked only after the code
    expect((await send({ otp: '000000' })).body.code).toBe('otp_required');
    const other = new Browser(api);
    expect((await other.ask('POST', '/auth/oidc/finish', { ...returned, otp: appCode(secret) })).status).toBe(
      400,
    );
    expect((await send({ otp: appCode(secret, Date.now(), 1) })).body).toMatchObject({ otp: true });
    expect((await send({ otp: appCode(secret, Date.now(), 2) })).status).toBe(400);
    expect(await api.query`select from identity_proofs`).toEqual([]);

    const again = await comeBack(browser);
    await browser.ask('POST', '/auth/oidc/finish', again);
    const guess = () => browser.ask('POST', '/auth/oidc/finish', { ...again, otp: '000000' });
    const guesses = await Promise.all(Array.from({ length: 25 }, guess)); // more than the connections to Postgres
    expect(guesses.map(({ body }) => body.error).join('\n')).not.toMatch(/database/);
  });
});

describe('an account page', () => {
  it('links an identity, confirms the session with it, and removes it when there is a password', async () => {
    const browser = await signIn(api, 'viewer');
    idp.person = { sub: 'vic', email: 'vic@elsewhere.test', email_verified: false };
    const linked = await browser.ask('POST', '/users/me/identities', await comeBack(browser, 'link'));
    expect([linked.status, linked.body.issuer]).toEqual([200, idp.issuer]);
    expect((await finish(new Browser(api))).body.user_id).toBe(api.accountIds.viewer);
    const list = await browser.ask('GET', '/users/me/identities');
    expect(list.body).toMatchObject([
      { id: linked.body.id, email: 'vic@elsewhere.test', used_at: expect.any(String) },
    ]);

    await api.query`update sessions set password_at = now() - interval '1 hour'`;
    const remove = () => browser.ask('DELETE', `/users/me/identities/${linked.body.id}`);
    expect((await remove()).body.code).toBe('reauthenticate');
    idp.person = { sub: 'another' };
    const wrong = await browser.ask('POST', '/auth/oidc/confirm', await comeBack(browser, 'confirm'));
    expect(wrong.body.code).toBe('oidc_refused');
    idp.person = { sub: 'vic' };
    idp.changeToken = (claims, sign) => sign({ ...claims, auth_time: Math.floor(Date.now() / 1000) - 3600 });
    const old = await browser.ask('POST', '/auth/oidc/confirm', await comeBack(browser, 'confirm'));
    expect(old.body.code).toBe('oidc_refused');
    idp.changeToken = withoutAuthTime;
    const silent = await browser.ask('POST', '/auth/oidc/confirm', await comeBack(browser, 'confirm'));
    expect(silent.body).toMatchObject({
      code: 'oidc_refused',
      error: expect.stringMatching(/confirm with your password$/),
    });
    expect((await remove()).body.code).toBe('reauthenticate');
    idp.changeToken = undefined;
    expect((await browser.ask('POST', '/auth/oidc/confirm', await comeBack(browser, 'confirm'))).status).toBe(
      200,
    );

    await api.query`update accounts set password_hash = null where id = ${api.accountIds.viewer}`;
    expect((await remove()).body.error).toMatch(/set a password first/);
    await givePassword(api, 'viewer');
    expect((await remove()).status).toBe(200);
    expect((await remove()).status).toBe(404);
    expect((await finish(new Browser(api))).body.code).toBe('oidc_refused');
    expect((await actions()).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['session.confirm', 'identity.unlink']),
    );
  });

  it('a sign-in confirms sensitive changes only if the provider reports that the person authenticated just now', async () => {
    const create = async () => {
      const browser = new Browser(api);
      expect((await finish(browser)).status).toBe(200);
      return (await browser.ask('POST', '/users/me/keys', { name: 'a key' })).body.code;
    };
    expect(await create()).toBeUndefined();
    idp.changeToken = withoutAuthTime;
    expect(await create()).toBe('reauthenticate');
    idp.changeToken = (claims, sign) => sign({ ...claims, auth_time: Math.floor(Date.now() / 1000) - 3600 });
    expect(await create()).toBe('reauthenticate');
  });

  it('a confirmation requires a new authentication, and is not offered with OIDC_CONFIRM=off', async () => {
    const begin = (on: TestApi) => new Browser(on).ask('POST', '/auth/oidc/begin', { purpose: 'confirm' });
    const asked = new URL((await begin(api)).body.url).searchParams;
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
    const own = await start({
      people: { operatorsNeedProvider: true },
      oidc: { oidcConfirm: false, oidcLink: ['zonefleet.test'] },
    });
    try {
      expect((await begin(own)).body.code).toBe('oidc_unavailable');
      expect((await new Browser(own).ask('GET', '/auth/oidc')).body.confirms).toBe(false);
      await givePassword(own, 'operator');
      expect((await new Browser(own).login('operator')).body.code).toBe('oidc_required');
      idp.person = ann({ sub: 'op', email: emailOf('operator') });
      const browser = new Browser(own);
      expect((await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser))).status).toBe(200);
      expect((await browser.ask('POST', '/auth/confirm', { password: PASSWORD })).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  it('cannot link an identity of another account, or a second one', async () => {
    await finish(new Browser(api)); // ann is the owner
    const browser = await signIn(api, 'viewer');
    const link = async () =>
      await browser.ask('POST', '/users/me/identities', await comeBack(browser, 'link'));
    expect((await link()).body.code).toBe('wrong_state');
    idp.person = { sub: 'vic' };
    expect((await link()).status).toBe(200);
    idp.person = { sub: 'vic-2' };
    expect((await link()).body.code).toBe('wrong_state');
  });
});

describe('with rules for operators', () => {
  const strict = ownApi(() =>
    start({
      people: { operatorsNeedProvider: true, operatorsConfirmWithProvider: true },
      oidc: {
        oidcLink: ['zonefleet.test'],
        oidcOperators: { name: 'groups', value: 'dns' },
      },
    }),
  );

  it('the provider decides who is an operator, except about the last one', async () => {
    const signInAs = async (groups: unknown, person: object = {}) => {
      idp.person = ann({ ...person, groups });
      const browser = new Browser(strict);
      const { body } = await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser));
      return body.admin;
    };
    expect(await signInAs(['staff', 'dns'])).toBe(true);
    expect(await signInAs(['dns-admins'])).toBe(false);
    expect(await signInAs('dns')).toBe(true);
    expect(await signInAs(undefined)).toBe(false);
    expect(await signInAs([], { sub: 'op', email: emailOf('operator') })).toBe(true);
    expect(strict.logged.some((line) => /last global admin/.test(String(line.reason)))).toBe(true);
    const changes = await strict.query<{
      after: { admin: boolean };
    }>`select after from audit_log where action = 'account.update' order by id`;
    expect(changes.map(({ after }) => after.admin)).toEqual([true, false, true, false]);
  });

  it('a confirmation ends the session of an operator who left the group', async () => {
    idp.person = ann({ groups: 'dns' });
    const browser = new Browser(strict);
    const { body } = await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser));
    expect(body.admin).toBe(true);
    idp.person = ann({ groups: 'staff' });
    const confirmed = await browser.ask('POST', '/auth/oidc/confirm', await comeBack(browser, 'confirm'));
    expect([confirmed.status, confirmed.body.error]).toEqual([
      401,
      'your rights have changed: sign in again',
    ]);
    expect((await browser.ask('GET', '/whoami')).status).toBe(401);
    const [account] = await strict.query<{ is_admin: boolean }>`
      select is_admin from accounts where id = ${body.user_id}`;
    expect(account).toEqual({ is_admin: false });
  });

  it('passwords of operators are refused, and those of customers are not', async () => {
    for (const account of ['operator', 'editor'] as const) await givePassword(strict, account);
    expect((await new Browser(strict).login('operator')).body.code).toBe('oidc_required');
    const wrong = await new Browser(strict).login('operator', { password: 'not this one' });
    expect([wrong.status, wrong.body.code]).toEqual([401, undefined]); // only the correct password is told apart
    expect((await new Browser(strict).login('editor')).status).toBe(200);

    const browser = new Browser(strict);
    idp.person = ann({ sub: 'op', email: emailOf('operator'), groups: 'dns' });
    expect((await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser))).status).toBe(200);
    expect((await browser.ask('POST', '/auth/confirm', { password: PASSWORD })).body.code).toBe(
      'oidc_required',
    );
    const [identity] = (await browser.ask('GET', '/users/me/identities')).body;
    expect((await browser.ask('DELETE', `/users/me/identities/${identity.id}`)).body.error).toMatch(
      /operators/,
    );
  });
});

describe('the provider', () => {
  it('receives one request for its metadata, which names the page that signs out', async () => {
    const own = await start();
    try {
      idp.asked.clear();
      await Promise.all([1, 2, 3].map(() => new Browser(own).ask('POST', '/auth/oidc/begin', {})));
      expect(idp.asked.get('openid-configuration')).toBe(1);
      const { body } = await new Browser(own).ask('GET', '/auth/oidc');
      expect(body).toMatchObject({ enabled: true, name: 'Test ID' });
      const url = new URL(body.sign_out_url);
      expect([url.origin, url.searchParams.get('post_logout_redirect_uri')]).toEqual([
        idp.issuer,
        'https://dns.zonefleet.test/console/',
      ]);
    } finally {
      await own.stop();
    }
  });

  it('is not queried again immediately after a failure, and passwords still work', async () => {
    const own = await start();
    try {
      idp.failure = 503;
      idp.asked.clear();
      for (let i = 0; i < 3; i++) {
        const { status, body, headers } = await new Browser(own).ask('POST', '/auth/oidc/begin', {});
        expect([status, body.code, headers['retry-after']]).toEqual([503, 'oidc_unavailable', '10']);
      }
      expect(idp.asked.get('openid-configuration')).toBe(1);
      await givePassword(own, 'owner');
      expect((await new Browser(own).login('owner')).status).toBe(200);
    } finally {
      idp.failure = undefined;
      await own.stop();
    }
  });

  it('can fail after the sign-in page, which does not count as a failed attempt', async () => {
    const browser = new Browser(api);
    const returned = await comeBack(browser);
    idp.failure = 500;
    for (let i = 0; i < 11; i++)
      expect((await browser.ask('POST', '/auth/oidc/finish', returned)).status).toBe(503);
    idp.failure = undefined;
    expect((await browser.ask('POST', '/auth/oidc/finish', returned)).status).toBe(200);
  });

  it('is reported as unavailable if it rejects the client, with the reason in the log', async () => {
    const own = await start({ oidc: { oidcClientSecret: 'a wrong secret' } });
    try {
      const browser = new Browser(own);
      const { body } = await browser.ask('POST', '/auth/oidc/finish', await comeBack(browser));
      expect(body.code).toBe('oidc_unavailable');
      expect(own.logged.map(({ reason }) => reason)).toContain(
        'it responds 401: check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
      );
    } finally {
      await own.stop();
    }
  });
});

it('does not link an existing account whose domain is listed for creation only', async () => {
  await createAccount(api.db, { email: 'olga@new.test' });
  idp.person = { sub: 'olga', email: 'olga@new.test', email_verified: true };
  expect((await finish(new Browser(api))).body.code).toBe('oidc_refused');
});
