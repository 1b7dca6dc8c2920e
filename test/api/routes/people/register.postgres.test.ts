import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLink } from '../../../../src/store/people/credentials.ts';
import { addToken } from '../../../../src/store/sharing/accept-invite.ts';
import { ownApi, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { Browser, PASSWORD } from '../../../support/api/people.ts';

const api = ownApi(() => startTestApi({ trial: { planSlug: 'pro', days: 14 } }));

async function begin(browser: Browser, name: string): Promise<object> {
  expect((await browser.ask('POST', '/domains/', { name })).status).toBe(200);
  const { body } = await browser.ask('GET', `/domains/${name}/subscriptions`);
  return body.map(({ plan, is_trial }: { plan: { slug: string }; is_trial: boolean }) => [
    plan.slug,
    is_trial,
  ]);
}

it('the first domain of a self-registered account starts with a trial, and the next one does not', async () => {
  const token = await makeLink(api.db, { kind: 'register', email: 'ann@shop.example' });
  const ann = new Browser(api);
  expect((await ann.ask('POST', '/auth/register', { token, password: PASSWORD })).status).toBe(200);
  expect(await begin(ann, 'first.example')).toEqual([['pro', true]]);
  expect(await begin(ann, 'second.example')).toEqual([['free', false]]);
});

describe('a service that is not open for registration', () => {
  let closed: TestApi;
  beforeAll(async () => {
    closed = await startTestApi({ people: { registration: false }, trustedProxies: ['127.0.0.1/32'] });
    await closed.makeDomain('shared.example');
  });
  afterAll(() => closed?.stop());

  const inviteTo = async (email: string) =>
    (await closed.ask('POST', '/domains/shared.example/invites', { body: { email, role: 'viewer' } })).body;
  const tokenOf = ({ url }: { url: string }) => url.split('=')[1] as string;
  const registering = (body: object) => new Browser(closed).ask('POST', '/auth/register', body);

  it('gives the same response, and writes the same, whether or not an address is invited or has an account', async () => {
    await inviteTo('invited@shop.example');
    const answers = [];
    for (const email of ['invited@shop.example', 'nobody@shop.example', 'owner@zonefleet.test'])
      answers.push(await registering({ email }));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual({ message: expect.stringContaining('if this address is invited') });
    }
    const rows = await closed.query<{ email: string }>`
      select email from mails where kind = 'register-invited' order by id`;
    expect(rows.map(({ email }) => email)).toEqual([
      'invited@shop.example',
      'nobody@shop.example',
      'owner@zonefleet.test',
    ]);
  });

  it('accepts the link that is mailed to an invited person, while the invite is open', async () => {
    const { id } = await inviteTo('bob@shop.example');
    const token = await makeLink(closed.db, { kind: 'register', email: 'Bob@Shop.example' });
    await closed.ask('DELETE', `/domains/shared.example/invites/${id}`);
    expect((await registering({ token, password: PASSWORD })).body.code).toBe('wrong_state');
    const again = await inviteTo('bob@shop.example');
    const bob = new Browser(closed);
    expect((await bob.ask('POST', '/auth/register', { token, password: PASSWORD })).status).toBe(200);
    const accepted = await bob.ask('POST', `/invites/${tokenOf(again)}/accept`);
    expect(accepted.body).toMatchObject({ name: 'shared.example', my_role: 'viewer' });
  });

  it('accepts the token of a mailed invite immediately, and the invite can be accepted afterwards', async () => {
    const { id } = await inviteTo('cy@shop.example');
    const invite = await addToken(closed.db, id, true);
    expect((await registering({ invite, password: 'short' })).status).toBe(400);
    expect((await registering({ invite, token: invite, password: PASSWORD })).status).toBe(400);
    expect((await registering({ invite, email: 'dan@shop.example', password: PASSWORD })).status).toBe(400);
    const cy = new Browser(closed);
    const made = await cy.ask('POST', '/auth/register', { invite, password: PASSWORD, name: 'Cy' });
    expect(made.body).toMatchObject({ email: 'cy@shop.example', name: 'Cy', admin: false });
    expect((await cy.ask('GET', '/domains/')).body).toEqual([]);
    expect((await registering({ invite, password: PASSWORD })).status).toBe(409);
    expect((await cy.ask('POST', `/invites/${invite}/accept`)).status).toBe(200);
    expect((await registering({ invite, password: PASSWORD })).body.code).toBe('wrong_state');
  });

  it('does not let an inviter create an account with the address that they invited', async () => {
    const invite = tokenOf(await inviteTo('victim@bank.example'));
    const { status, body } = await registering({ invite, password: PASSWORD });
    expect([status, body]).toEqual([
      400,
      { code: 'wrong_state', error: expect.stringContaining('not mailed') },
    ]);
    const rows = await closed.query`select from accounts where email_key = 'victim@bank.example'`;
    expect(rows).toEqual([]);
  });

  it('accepts only tokens of invites if it sends no mail', async () => {
    const mute = await startTestApi({ people: { registration: false, sendsMail: false } });
    const browser = new Browser(mute);
    expect((await browser.ask('POST', '/auth/register', { email: 'a@b.example' })).status).toBe(403);
    await mute.makeDomain('shared.example');
    const { body } = await mute.ask('POST', '/domains/shared.example/invites', {
      body: { email: 'a@b.example', role: 'editor' },
    });
    expect(await mute.query`select from mails`).toEqual([]);
    const invite = await addToken(mute.db, body.id, true);
    const made = await browser.ask('POST', '/auth/register', { invite, password: PASSWORD });
    expect(made.body.email).toBe('a@b.example');
    await mute.stop();
  });
});
