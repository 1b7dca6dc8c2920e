// Without an identity provider, and without calls to one.

import { beforeEach, expect, it } from 'vitest';
import { Services } from '../../../src/api/calls/call.ts';
import type { ServiceTools } from '../../../src/features/feature.ts';
import { openOidc } from '../../../src/features/oidc/services.ts';
import { makeLink } from '../../../src/store/people/credentials.ts';
import { type Identity, linkIdentity } from '../../../src/store/people/identities.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { Browser, emailOf, PASSWORD, signIn } from '../../support/api/people.ts';

const api = sharedTestApi();
beforeEach(() => api.query`delete from account_identities`);

it('a service without a provider reports that it has none, and responds 503 to its calls', async () => {
  const browser = await signIn(api, 'owner');
  expect((await browser.ask('GET', '/auth/oidc')).body).toEqual({ enabled: false });
  const parameters = { code: 'a code', state: 'a state' };
  for (const [path, body] of [
    ['/auth/oidc/begin', {}],
    ['/auth/oidc/finish', parameters],
    ['/auth/oidc/confirm', parameters],
    ['/users/me/identities', parameters],
  ] as const) {
    const { status, body: answer } = await browser.ask('POST', path, body);
    expect([path, status, answer.code]).toEqual([path, 503, 'oidc_unavailable']);
  }
});

it('an account lists and removes only its own identities', async () => {
  const identity = { issuer: 'https://id.test', email: null };
  const link = async (account: 'owner' | 'editor') =>
    (await linkIdentity(api.db, {
      ...identity,
      accountId: api.accountIds[account],
      subject: account,
    })) as Identity;
  const [own, other] = [await link('owner'), await link('editor')];
  const browser = await signIn(api, 'owner');
  expect((await browser.ask('GET', '/users/me/identities')).body).toEqual([
    { id: own.id, issuer: 'https://id.test', created_at: expect.any(String) },
  ]);
  expect((await browser.ask('DELETE', `/users/me/identities/${other.id}`)).status).toBe(404);
  const second = new Browser(api);
  await second.login('owner');
  expect((await browser.ask('DELETE', `/users/me/identities/${own.id}`)).status).toBe(200);
  expect((await second.ask('GET', '/users/me')).status).toBe(401); // other sessions end
  expect((await browser.ask('GET', '/users/me')).body.identity).toBe(false);
});

it('an account with an identity and no password gets one by the reset mail, unless it is inactive', async () => {
  const accountId = api.accountIds.editor;
  await linkIdentity(api.db, { issuer: 'https://id.test', subject: 'eve', email: null, accountId });
  await api.query`update accounts set password_hash = null where id = ${accountId}`;
  const browser = new Browser(api);
  await browser.ask('POST', '/auth/password/forgot', { email: emailOf('editor') });
  expect(await api.query`select account_id from mails where kind = 'reset'`).toEqual([
    { account_id: accountId },
  ]);
  const token = await makeLink(api.db, { kind: 'reset', accountId });
  const reset = () => browser.ask('POST', '/auth/password/reset', { token, password: PASSWORD });
  await api.query`update accounts set active = false where id = ${accountId}`;
  expect((await reset()).body).toEqual({ code: 'wrong_state', error: 'account is inactive' });
  await api.query`update accounts set active = true where id = ${accountId}`;
  expect((await reset()).status).toBe(200);
  expect((await browser.login('editor')).status).toBe(200);
});

it.each([
  [{ oidcIssuer: 'https://id.test', oidcClientId: 'x' }, /^OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: /],
  [{ oidcIssuer: 'https://id.test', oidcClientId: 'x', oidcClientSecret: 'y', console: false }, /^CONSOLE: /],
])('an API with the settings %j does not start', async (settings, message) => {
  const tools = { settings: { console: true, ...settings } } as unknown as ServiceTools;
  await expect(openOidc(tools, new Services())).rejects.toThrow(message);
});
