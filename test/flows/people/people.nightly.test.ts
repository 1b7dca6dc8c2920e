// People from register to reset, with a real SMTP server and a real queue; and that nothing which this writes has a secret in it.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MailOutcome } from '../../../workers/jobs/send-mail.ts';
import { PUBLIC_URL, startTestApi, type TestApi } from '../../support/api/api.ts';
import { appCode, Browser } from '../../support/api/people.ts';
import { createDatabase } from '../../support/database/database.ts';
import { findSecrets } from '../../support/database/find-secrets.ts';
import { type MailWorker, startMailWorker } from '../../support/mail/mail-worker.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/tests/until.ts';

const ANN = 'Ann@Shop.example';
const PASSWORDS = ['first-Passw0rd-of-ann', 'second-Passw0rd-of-ann', 'third-Passw0rd-of-ann'] as const;

let api: TestApi;
let smtp: TestSmtp;
let worker: MailWorker;
/** Everything that must not be written down anywhere. */
const secrets = new Map<string, string>();
const keep = (name: string, text: string) => {
  expect(text.length).toBeGreaterThan(5);
  secrets.set(`${name} ${secrets.size}`, text);
  return text;
};

beforeAll(async () => {
  const database = await createDatabase();
  smtp = await startSmtp({ refuse: (address) => (address === 'gone@shop.example' ? 550 : undefined) });
  api = await startTestApi({ database, trustedProxies: ['127.0.0.1/32'] });
  worker = await startMailWorker(database.url, { smtpUrl: smtp.url, publicUrl: PUBLIC_URL });
});
afterAll(async () => {
  await worker?.stop();
  await api?.stop();
  await smtp?.stop();
});

const outcomesOf = (kind: MailOutcome['kind']) =>
  worker.outcomes.filter((outcome) => outcome.kind === kind).length;
let ann: Browser;
let otpSecret: string;

describe('people', () => {
  it('register: the account begins with the link, and its password is chosen there', async () => {
    ann = new Browser(api);
    const asked = await ann.ask('POST', '/auth/register', { email: ANN });
    expect([asked.status, Object.keys(asked.body)]).toEqual([200, ['message']]);
    const token = keep('link', await smtp.tokenFor(ANN));
    expect(smtp.taken.at(-1)?.text).toContain(`${PUBLIC_URL}/console/#register=${token}`);
    expect((await ann.ask('POST', '/auth/login', { email: ANN, password: PASSWORDS[0] })).status).toBe(401);
    expect((await ann.ask('POST', '/auth/register', { token, password: 'short' })).status).toBe(400);
    const made = await ann.ask('POST', '/auth/register', {
      token,
      password: keep('password', PASSWORDS[0]),
      name: 'Ann',
    });
    expect([made.status, made.body]).toEqual([
      200,
      expect.objectContaining({ email: ANN, name: 'Ann', admin: false }),
    ]);
    expect((await ann.ask('POST', '/auth/register', { token, password: PASSWORDS[0] })).status).toBe(400);
    expect((await ann.ask('GET', '/users/me')).body).toMatchObject({ email_confirmed: true, otp: false });
    for (const value of ann.cookies.values()) keep('cookie', value);
  });

  it('register twice: the answer is the same, the mail says that there is an account', async () => {
    const other = new Browser(api);
    const asked = await other.ask('POST', '/auth/register', { email: ANN.toLowerCase() });
    expect(asked.status).toBe(200);
    await until(() => smtp.taken.length === 2, 'the second mail');
    expect(smtp.taken.at(-1)?.text).not.toContain('lnk_');
  });

  it('make keys, which are shown once, and not to who repeats the call', async () => {
    const once = { headers: { 'idempotency-key': 'k1' } };
    const first = await ann.ask(
      'POST',
      '/users/me/keys',
      { name: 'ci', types: ['txt'], domains: ['Shop.example.'] },
      once,
    );
    expect(first.body).toMatchObject({
      name: 'ci',
      types: ['TXT'],
      domains: ['shop.example'],
      read_only: false,
    });
    const key = keep('key', first.body.key);
    const again = await ann.ask(
      'POST',
      '/users/me/keys',
      { name: 'ci', types: ['txt'], domains: ['Shop.example.'] },
      once,
    );
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.body).toEqual({ ...first.body, key: undefined });
    const whoami = await api.ask('GET', '/whoami', { as: key });
    expect(whoami.body).toMatchObject({
      email: ANN,
      credential: 'key',
      types: ['TXT'],
      domains: ['shop.example'],
    });
    expect((await ann.ask('GET', '/users/me/keys')).body).toEqual([
      expect.objectContaining({ id: first.body.id, prefix: key.slice(0, 10) }),
    ]);
    const stranger = new Browser(api);
    expect((await stranger.ask('DELETE', `/users/me/keys/${first.body.id}`)).status).toBe(401);
    expect((await ann.ask('DELETE', '/users/me/keys/999999')).status).toBe(404);
    expect((await ann.ask('DELETE', `/users/me/keys/${first.body.id}`)).status).toBe(200);
    expect((await api.ask('GET', '/whoami', { as: key })).status).toBe(401);
    const bad = await ann.ask('POST', '/users/me/keys', { name: 'x', types: ['A', 'SOA'] });
    expect([bad.status, bad.body.fields[0].field]).toEqual([400, 'types[1]']);
  });

  it('turn two-step sign-in on: other sessions end, this one gets another token, a code counts once', async () => {
    const other = new Browser(api);
    await other.ask('POST', '/auth/login', { email: ANN, password: PASSWORDS[0] });
    expect((await ann.ask('POST', '/auth/otp/confirm', { otp: '000000' })).status).toBe(400);
    otpSecret = keep('otp secret', (await ann.ask('POST', '/auth/otp/enable')).body.secret);
    const before = ann.cookies.get('__Host-session');
    const code = appCode(otpSecret);
    const turned = await ann.ask('POST', '/auth/otp/confirm', { otp: code });
    expect(turned.body.recovery_codes).toHaveLength(10);
    for (const recovery of turned.body.recovery_codes) keep('recovery code', recovery);
    expect(ann.cookies.get('__Host-session')).not.toBe(before);
    keep('cookie', ann.cookies.get('__Host-session') as string);
    expect((await other.ask('GET', '/whoami')).status).toBe(401);
    expect((await ann.ask('GET', '/whoami')).status).toBe(200);

    const login = (otp?: string) =>
      other.ask('POST', '/auth/login', {
        email: ANN,
        password: PASSWORDS[0],
        ...(otp !== undefined && { otp }),
      });
    expect((await login()).body.code).toBe('otp_required');
    expect((await login(code)).body).toMatchObject({
      code: 'otp_required',
      error: expect.stringContaining('used'),
    });
    expect((await login(appCode(otpSecret, Date.now(), 1))).status).toBe(200);
    const [recovery] = turned.body.recovery_codes;
    expect((await login(recovery)).status).toBe(200);
    expect((await login(recovery)).status).toBe(401);
    expect((await ann.ask('POST', '/auth/otp/enable')).body.code).toBe('wrong_state');
  });

  it('change the password: a stolen token of before is worth nothing', async () => {
    const thief = new Browser(api);
    thief.cookies.set('__Host-session', ann.cookies.get('__Host-session') as string);
    expect((await thief.ask('GET', '/whoami')).status).toBe(200);
    expect(
      (await ann.ask('PUT', '/users/me/password', { password: keep('password', PASSWORDS[1]) })).status,
    ).toBe(200);
    keep('cookie', ann.cookies.get('__Host-session') as string);
    expect((await thief.ask('GET', '/whoami')).status).toBe(401);
    expect((await ann.ask('GET', '/users/me/sessions')).body).toEqual([
      expect.objectContaining({ current: true, address: ann.address, user_agent: 'a browser' }),
    ]);
  });

  it('forget the password: nobody learns who has an account, the link works once, all sessions end, two steps stay', async () => {
    const asks = async (email: string) => {
      const { status, body } = await new Browser(api).ask('POST', '/auth/password/forgot', { email });
      return [status, body];
    };
    const before = outcomesOf('dropped');
    expect(await asks('nobody@shop.example')).toEqual(await asks(ANN));
    await until(() => outcomesOf('dropped') > before, 'the mail to nobody is dropped');
    expect(smtp.taken.filter(({ to }) => to === 'nobody@shop.example')).toEqual([]);
    const token = keep('link', await smtp.tokenFor(ANN));
    const browser = new Browser(api);
    const reset = { token, password: keep('password', PASSWORDS[2]) };
    expect((await browser.ask('POST', '/auth/password/reset', reset)).status).toBe(200);
    expect((await browser.ask('POST', '/auth/password/reset', reset)).status).toBe(400);
    expect((await ann.ask('GET', '/whoami')).status).toBe(401);
    const login = await ann.ask('POST', '/auth/login', { email: ANN, password: PASSWORDS[2] });
    expect(login.body.code).toBe('otp_required');
    await sql`update account_totp set last_step = 0`.execute(api.database.db);
    expect(
      (await ann.ask('POST', '/auth/login', { email: ANN, password: PASSWORDS[2], otp: appCode(otpSecret) }))
        .status,
    ).toBe(200);
    keep('cookie', ann.cookies.get('__Host-session') as string);
  });

  it('change the email: it counts once its link is opened, and the old one is told', async () => {
    expect((await ann.ask('PUT', '/users/me/email', { email: 'ann@new.example' })).status).toBe(200);
    const token = keep('link', await smtp.tokenFor('ann@new.example'));
    expect((await ann.ask('GET', '/users/me')).body.email).toBe(ANN);
    const changed = await ann.ask('POST', '/users/me/email/confirm', { token });
    expect([changed.status, changed.body.email]).toEqual([200, 'ann@new.example']);
    await until(
      () => smtp.taken.find(({ to, raw }) => to === ANN.toLowerCase() && /Subject: .*was changed/.test(raw)),
      'the old one is told',
    );
    // An address that somebody has.
    await ann.ask('PUT', '/users/me/email', { email: 'owner@zonefleet.test' });
    const taken = keep('link', await smtp.tokenFor('owner@zonefleet.test'));
    expect((await ann.ask('POST', '/users/me/email/confirm', { token: taken })).status).toBe(409);
  });

  it('get three mails an hour at one address, whoever asks', async () => {
    for (let i = 0; i < 6; i++) {
      const { status } = await new Browser(api).ask('POST', '/auth/register', { email: 'many@shop.example' });
      expect(status).toBe(200);
    }
    await until(() => smtp.taken.filter(({ to }) => to === 'many@shop.example').length === 3, 'three mails');
    await until(async () => {
      const { rows } = await sql`select from mails where email = 'many@shop.example'`.execute(
        api.database.db,
      );
      return rows.length === 0;
    }, 'no more wait');
    expect(smtp.taken.filter(({ to }) => to === 'many@shop.example')).toHaveLength(3);
    const one = new Browser(api);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push((await one.ask('POST', '/auth/password/forgot', { email: `x${i}@shop.example` })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
  });

  it('a mail that its server refuses for good is given up', async () => {
    await new Browser(api).ask('POST', '/auth/register', { email: 'gone@shop.example' });
    await until(() => outcomesOf('given_up') === 1, 'it is given up');
  });

  it('turn two-step sign-in off with a code', async () => {
    await sql`update account_totp set last_step = 0`.execute(api.database.db);
    expect((await ann.ask('POST', '/auth/otp/disable', { otp: '12345' })).status).toBe(400);
    expect((await ann.ask('POST', '/auth/otp/disable', { otp: appCode(otpSecret) })).status).toBe(200);
    expect((await ann.ask('GET', '/users/me')).body.otp).toBe(false);
  });
});

describe('what all this wrote', () => {
  it('has no password, token, key, cookie or code in it: log, tables, jobs', async () => {
    const { places, found } = await findSecrets(
      api.database.db,
      secrets,
      new Map([
        ['the log', JSON.stringify(api.logged)],
        ['troubles', String(worker.troubles)],
      ]),
    );
    expect(places).toContain('public.sessions');
    expect(places.some((name) => name.startsWith('bullmq.'))).toBe(true);
    expect(secrets.size).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  it('met no trouble', () => {
    expect(worker.troubles).toEqual([]);
  });
});
