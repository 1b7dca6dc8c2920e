// Two strangers share a domain, with a real SMTP server and a real queue, on a service that is not open for registration; and
// that nothing which this writes has the link of an invite in it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_URL, startTestApi, type TestApi } from '../../support/api/api.ts';
import { Browser } from '../../support/api/people.ts';
import { createDatabase } from '../../support/database/database.ts';
import { findSecrets } from '../../support/database/find-secrets.ts';
import { type MailWorker, startMailWorker } from '../../support/mail/mail-worker.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/tests/until.ts';

const BOB = 'Bob@Shop.example';
const CY = 'cy@shop.example';
const INVITES = '/domains/shared.example/invites';
const PASSWORD = 'a-Passw0rd-of-somebody';

let api: TestApi;
let smtp: TestSmtp;
let worker: MailWorker;
const secrets = new Map<string, string>([['password', PASSWORD]]);
const keep = (token: string) => {
  expect(token).toMatch(/^(inv|lnk)_[0-9A-Za-z]{43}$/);
  secrets.set(`token ${secrets.size}`, token);
  return token;
};
const mailsTo = (address: string) => smtp.taken.filter(({ to }) => to === address.toLowerCase());
const invite = async (email: string, role: string) => {
  const made = await api.ask('POST', INVITES, {
    body: { email, role },
    headers: { 'idempotency-key': `${email} ${role}` },
  });
  expect(made.status).toBe(200);
  keep(made.body.url.split('=')[1]);
  return made.body;
};

beforeAll(async () => {
  const database = await createDatabase();
  smtp = await startSmtp();
  api = await startTestApi({
    database,
    trustedProxies: ['127.0.0.1/32'],
    people: { registration: false },
  });
  worker = await startMailWorker(database.url, { smtpUrl: smtp.url, publicUrl: PUBLIC_URL });
  await api.makeDomain('shared.example');
});
afterAll(async () => {
  await worker?.stop();
  await api?.stop();
  await smtp?.stop();
});

describe('sharing', () => {
  const bob = () => new Browser(api);

  it('who is invited makes an account by the mailed link, accepts, and edits', async () => {
    const made = await invite(BOB, 'editor');
    const mailed = keep(await smtp.tokenFor(BOB));
    expect(made.url).not.toContain(mailed);
    expect(mailsTo(BOB)[0]?.text).toContain('owner@zonefleet.test invites you to the domain shared.example');
    const browser = bob();
    const begun = await browser.ask('POST', '/auth/register', { invite: mailed, password: PASSWORD });
    expect(begun.body.email).toBe(BOB);
    expect((await browser.ask('GET', `/invites/${mailed}`)).body).toMatchObject({
      domain: 'shared.example',
      invited_email: 'B•••@S•••.example',
    });
    const accepted = await browser.ask('POST', `/invites/${mailed}/accept`);
    expect(accepted.body).toMatchObject({ my_role: 'editor' });
    const record = { name: 'x', type: 'TXT', destination: 'x' };
    expect((await browser.ask('POST', '/domains/shared.example/records/', record)).status).toBe(200);
    expect((await browser.ask('GET', '/domains/?count=true')).headers['x-total-count']).toBe('1');
  });

  it('who is not invited gets no mail and the same answer; who is, a link to begin with', async () => {
    await invite(CY, 'viewer');
    await until(() => mailsTo(CY).length === 1, 'the invite');
    const answers = [];
    for (const email of ['nobody@shop.example', CY])
      answers.push(await bob().ask('POST', '/auth/register', { email }));
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    await until(() => mailsTo(CY).length === 2, 'the link to register');
    await until(() => worker.outcomes.some(({ kind }) => kind === 'dropped'), 'the other is dropped');
    expect(mailsTo('nobody@shop.example')).toEqual([]);
    const token = keep(await smtp.tokenFor(CY));
    const cy = bob();
    expect((await cy.ask('POST', '/auth/register', { token, password: PASSWORD })).status).toBe(200);
    expect((await cy.ask('GET', '/domains/shared.example')).status).toBe(404);
  });

  it('sent again, the mailed link of before ends too', async () => {
    const before = keep(await smtp.tokenFor(CY));
    const { id } = await invite(CY, 'admin');
    await until(() => mailsTo(CY).length === 3, 'another invite');
    const mailed = keep(await smtp.tokenFor(CY));
    const again = await api.ask('POST', `${INVITES}/${id}/resend`);
    keep(again.body.url.split('=')[1]);
    await until(() => mailsTo(CY).length === 4, 'the one that is sent again');
    const newest = keep(await smtp.tokenFor(CY));
    const cy = bob();
    await cy.ask('POST', '/auth/login', { email: CY, password: PASSWORD });
    for (const token of [before, mailed])
      expect((await cy.ask('POST', `/invites/${token}/accept`)).status).toBe(404);
    expect((await cy.ask('POST', `/invites/${newest}/accept`)).body).toMatchObject({ my_role: 'admin' });
  });
});

describe('what all this wrote', () => {
  it('has no token of an invite in it: log, tables, jobs, kept answers', async () => {
    const { places, found } = await findSecrets(
      api.database.db,
      secrets,
      new Map([
        ['the log', JSON.stringify(api.logged)],
        ['troubles', String(worker.troubles)],
      ]),
    );
    expect(places).toEqual(expect.arrayContaining(['public.invites', 'public.idempotency_keys']));
    expect(secrets.size).toBeGreaterThan(8);
    expect(found).toEqual([]);
    expect(worker.troubles).toEqual([]);
  });
});
