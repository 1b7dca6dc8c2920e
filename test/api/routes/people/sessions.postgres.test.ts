import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { updateAccount } from '../../../../src/store/accounts/accounts.ts';
import { makeLink } from '../../../../src/store/people/credentials.ts';
import { ownApi, startTestApi } from '../../../support/api/api.ts';
import { anotherAddress, Browser, emailOf, givePassword, PASSWORD } from '../../../support/api/people.ts';

const api = ownApi(() => startTestApi({ trustedProxies: ['127.0.0.1/32'], sessionRequestsPerMinute: 600 }));
beforeAll(async () => {
  for (const account of ['owner', 'editor', 'operator'] as const) await givePassword(api, account);
});
beforeEach(async () => {
  await api.query`truncate sign_in_failures, sessions, account_devices`;
});

const attempt = (browser: Browser, body: object, how?: Parameters<Browser['ask']>[3]) =>
  browser.ask('POST', '/auth/login', body, how);
const wrong = (browser: Browser, email = emailOf('owner')) =>
  attempt(browser, { email, password: 'not this one' });

describe('signing in', () => {
  it('opens a session in the browser, with the email address in any case', async () => {
    const browser = new Browser(api);
    const { status, body, headers } = await browser.login('owner', { email: 'OWNER@Zonefleet.TEST' });
    const account = { user_id: api.accountIds.owner, email: 'owner@zonefleet.test', admin: false };
    expect([status, body]).toEqual([200, { ...account, password_set: true, otp: false }]);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-session=ses_\w{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure$/,
      ),
      expect.stringMatching(/^__Host-device=dev_\w{43}; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect((await browser.ask('GET', '/whoami')).body).toMatchObject({
      email: 'owner@zonefleet.test',
      credential: 'session',
      rate: { limit: 600, remaining: 599 },
    });
    expect((await browser.ask('GET', '/domains/')).status).toBe(200);
    expect((await browser.ask('POST', '/domains/', { name: 'by-session.example' })).status).toBe(200);
    const rows = await api.query`select actor_kind, actor_account_id, actor_key_id from domain_changes`;
    expect(rows).toEqual([
      { actor_kind: 'session', actor_account_id: api.accountIds.owner, actor_key_id: null },
    ]);
    expect((await browser.ask('POST', '/auth/logout')).status).toBe(200);
    expect(browser.cookies.has('__Host-session')).toBe(false);
    expect((await browser.ask('GET', '/whoami')).status).toBe(401);
  });

  it('returns a bearer token to a program, and sets no cookie', async () => {
    const browser = new Browser(api);
    const { body, headers } = await browser.login('owner', { bearer: true });
    expect(body.token).toMatch(/^ses_\w{43}$/);
    expect(headers['set-cookie']).toBeUndefined();
    const steering = await api.ask('PUT', '/users/me', { as: body.token, body: { name: '\u001b[2J' } });
    expect(steering.body).toMatchObject({ code: 'validation_failed', fields: [{ field: 'name' }] });
    const asked = await api.ask('PUT', '/users/me', { as: body.token, body: { name: 'Olga' } });
    expect([asked.status, asked.body.name]).toEqual([200, 'Olga']); // without an Origin, because browsers do not send the token automatically
    const inKeyHeader = await api.ask('GET', '/whoami', { as: null, headers: { 'x-api-key': body.token } });
    expect(inKeyHeader.status).toBe(401);
  });

  it('gives the same response for a wrong password, an unknown email address, and an account without a password', async () => {
    for (const email of [emailOf('owner'), 'nobody@zonefleet.test', emailOf('stranger')]) {
      const { status, body } = await wrong(new Browser(api), email);
      expect([status, body]).toEqual([401, { error: 'the email address or the password is wrong' }]);
    }
    const both = { token: 'lnk_', email: 'a@b.test', password: 'x' };
    const large = { email: 'x'.repeat(20_000), password: 'x' };
    for (const body of [{}, { email: 'a@b.test' }, { pass: 'x' }, both, large])
      expect((await attempt(new Browser(api), body)).status).toBe(400);
  });

  it('reports a deactivated account only if the password is correct', async () => {
    await updateAccount(api.db, api.accountIds.editor, { active: false });
    expect((await new Browser(api).login('editor')).body.code).toBe('account_suspended');
    expect((await wrong(new Browser(api), emailOf('editor'))).body.code).toBeUndefined();
    await updateAccount(api.db, api.accountIds.editor, { active: true });
  });
});

describe('a sign-in link', () => {
  it('signs in once, by POST only', async () => {
    const token = await makeLink(api.db, { kind: 'sign-in', accountId: api.accountIds.stranger });
    const browser = new Browser(api);
    expect((await browser.ask('GET', '/auth/login')).status).not.toBe(200);
    const first = await attempt(browser, { token });
    expect([first.status, first.body.password_set]).toEqual([200, false]);
    expect((await browser.ask('PUT', '/users/me/password', { password: PASSWORD })).status).toBe(200);
    expect((await attempt(new Browser(api), { token })).status).toBe(401);
    await api.query`update accounts set password_hash = null where id = ${api.accountIds.stranger}`;
  });

  it('is valid for 15 minutes by one clock, and only for signing in', async () => {
    const { db } = api.database;
    const order = { kind: 'sign-in', accountId: api.accountIds.owner } as const;
    const old = await makeLink(db, order);
    await api.query`update account_links set expires_at = clock_timestamp()`;
    const early = await makeLink(db, order);
    const reset = await makeLink(db, { kind: 'reset', accountId: api.accountIds.owner });
    for (const token of [old, reset, `lnk_${'0'.repeat(43)}`, 'x'])
      expect((await attempt(new Browser(api), { token })).status).toBe(401);
    await api.query`update account_links set created_at = created_at + interval '1 day',
      expires_at = expires_at + interval '1 day'`; // the clock was set back
    expect((await attempt(new Browser(api), { token: early })).status).toBe(401);
  });
});

describe('attacks', () => {
  it('fixation: a previous session of the browser ends when a person signs in', async () => {
    const attacker = new Browser(api);
    await attacker.login('editor');
    const planted = attacker.cookies.get('__Host-session') as string;
    const victim = new Browser(api);
    victim.cookies.set('__Host-session', planted);
    await victim.login('owner');
    expect(victim.cookies.get('__Host-session')).not.toBe(planted);
    expect((await attacker.ask('GET', '/whoami')).status).toBe(401);
    const made = new Browser(api);
    made.cookies.set('__Host-session', `ses_${'a'.repeat(43)}`);
    await made.login('owner');
    expect(made.cookies.get('__Host-session')).not.toBe(`ses_${'a'.repeat(43)}`);
  });

  it.each([
    ['another site', 'https://evil.test'],
    ['a subdomain', 'https://x.dns.zonefleet.test'],
    ['this host without https', 'http://dns.zonefleet.test'],
    ['a sandboxed page', 'null'],
    ['no origin', null],
  ])('cross-site requests: a write by cookie from %s is rejected', async (_name, origin) => {
    const browser = new Browser(api);
    await browser.login('owner');
    for (const [method, url] of [
      ['PUT', '/users/me'],
      ['POST', '/auth/logout'],
      ['DELETE', '/users/me/sessions'],
      ['POST', '/nowhere'],
    ] as const) {
      const { status, body } = await browser.ask(method, url, { name: 'evil' }, { origin });
      expect([status, body.code]).toEqual([403, 'foreign_origin']);
    }
    expect((await browser.ask('GET', '/users/me', undefined, { origin })).status).toBe(200);
    const signingIn = { email: emailOf('owner'), password: PASSWORD };
    const { status } = await attempt(new Browser(api), signingIn, { origin });
    expect(status).toBe(origin === null ? 200 : 403); // programs send no Origin
  });

  it('a forged Host changes neither the origin that may write nor the cookies', async () => {
    const browser = new Browser(api);
    await browser.login('owner');
    const forged = { host: 'evil.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http' };
    const evil = { origin: 'https://evil.test', headers: forged };
    const refused = await browser.ask('PUT', '/users/me', { name: 'x' }, evil);
    expect(refused.body.code).toBe('foreign_origin');
    const right = { email: emailOf('owner'), password: PASSWORD };
    const signedIn = await attempt(new Browser(api), right, { headers: forged });
    expect(String(signedIn.headers['set-cookie'])).toMatch(/__Host-session=.*; Secure/);
    expect(JSON.stringify(signedIn.headers)).not.toContain('evil');
  });

  it('the token of a cookie is not a bearer token, nor vice versa', async () => {
    const browser = new Browser(api);
    await browser.login('owner');
    const cookie = browser.cookies.get('__Host-session') as string;
    expect((await api.ask('GET', '/whoami', { as: cookie })).status).toBe(401);
    const { token } = (await new Browser(api).login('owner', { bearer: true })).body;
    const other = new Browser(api);
    other.cookies.set('__Host-session', token);
    expect((await other.ask('GET', '/whoami')).status).toBe(401);
  });

  it('cookies are ignored if there is an Authorization header', async () => {
    const browser = new Browser(api);
    await browser.login('owner');
    for (const authorization of [
      `Bearer svc_${'0'.repeat(40)}`,
      'Basic x',
      `Bearer rsl_1_${'0'.repeat(43)}`,
      'Bearer edge_x',
    ])
      expect((await browser.ask('GET', '/whoami', undefined, { headers: { authorization } })).status).toBe(
        401,
      );
    const asEditor = await browser.ask('GET', '/whoami', undefined, {
      headers: { authorization: `Bearer ${api.keys.editor}` },
    });
    expect(asEditor.body).toMatchObject({ email: emailOf('editor'), credential: 'key' });
  });

  it('a session ends by its times', async () => {
    const browser = new Browser(api);
    for (const column of ['used_at', 'created_at']) {
      await browser.login('owner');
      await sql.raw(`update sessions set ${column} = ${column} - interval '91 days'`).execute(api.db);
      expect([column, (await browser.ask('GET', '/whoami')).status]).toEqual([column, 401]);
    }
  });

  it('brute force: ten failures block a network for every account', async () => {
    const attacker = new Browser(api);
    const others = ['owner', 'editor', 'operator'] as const;
    for (let i = 0; i < 10; i++)
      expect((await wrong(attacker, emailOf(others[i % 3] as 'owner'))).status).toBe(401);
    const { status, headers } = await attacker.login('owner');
    expect([status, Number(headers['retry-after']) > 890]).toEqual([429, true]);
    expect((await new Browser(api).login('owner')).status).toBe(200);
  });

  it("brute force: successful sign-ins to the attacker's own account do not reset the count", async () => {
    const attacker = new Browser(api);
    for (let i = 0; i < 9; i++) {
      await wrong(attacker);
      expect((await attacker.login('editor')).status).toBe(200);
    }
    await wrong(attacker);
    expect((await attacker.login('editor')).status).toBe(429);
  });

  it('brute force: concurrent attempts count like successive ones', async () => {
    const attacker = new Browser(api);
    const answers = await Promise.all(Array.from({ length: 60 }, () => wrong(attacker)));
    for (let i = 0; i < 15; i++) answers.push(await wrong(attacker));
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
    expect(answers.at(-1)?.status).toBe(429);
  });

  it('brute force: X-Forwarded-For is used only from a trusted proxy', async () => {
    const from = (remoteAddress: string) =>
      api.app.inject({
        method: 'POST',
        url: '/auth/login',
        remoteAddress,
        payload: { email: emailOf('owner'), password: 'x' },
        headers: { 'x-forwarded-for': anotherAddress() },
      });
    for (let i = 0; i < 10; i++) expect((await from('203.0.113.9')).statusCode).toBe(401);
    expect((await from('203.0.113.9')).statusCode).toBe(429);
    expect((await from('127.0.0.1')).statusCode).toBe(401);
  });

  it('lock-out: failures for an email address from many networks do not block known browsers of its owner', async () => {
    const own = new Browser(api);
    await own.login('owner');
    await wrong(new Browser(api));
    await api.query`update sign_in_failures set count = 99 where key like 'email:%'`;
    await wrong(new Browser(api));
    expect((await new Browser(api).login('owner')).status).toBe(429);
    expect((await own.login('owner')).status).toBe(200);
    const thief = new Browser(api);
    thief.cookies.set('__Host-device', own.cookies.get('__Host-device') as string);
    expect((await thief.login('editor')).status).toBe(200); // each account has its own limit
  });
});

describe('confirming the password', () => {
  const age = () => api.query`update sessions set password_at = password_at - interval '16 minutes'`;

  it('is required for sensitive calls 15 minutes after the last time', async () => {
    const browser = new Browser(api);
    await browser.login('owner');
    await age();
    // test/api/routes.test.ts lists the calls.
    const refused = await browser.ask('POST', '/users/me/keys', { name: 'x' });
    expect([refused.status, refused.body.code]).toEqual([403, 'reauthenticate']);
    expect((await browser.ask('POST', '/auth/confirm', { password: 'not this one' })).body).toMatchObject({
      code: 'validation_failed',
      fields: [{ field: 'password', error: 'is wrong' }],
    });
    expect((await browser.ask('POST', '/auth/confirm', { password: PASSWORD })).status).toBe(200);
    expect((await browser.ask('POST', '/users/me/keys', { name: 'x' })).status).toBe(200);
  });

  it('is limited like signing in', async () => {
    const browser = new Browser(api);
    await browser.login('owner');
    for (let i = 0; i < 10; i++) await browser.ask('POST', '/auth/confirm', { password: 'not this one' });
    expect((await browser.ask('POST', '/auth/confirm', { password: PASSWORD })).status).toBe(429);
  });
});
