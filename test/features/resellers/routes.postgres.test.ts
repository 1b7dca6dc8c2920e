import { beforeAll, describe, expect, it } from 'vitest';
import { RESELLER_ROUTES } from '../../../src/features/every-route.ts';
import { type Answer, sharedTestApi } from '../../support/api/api.ts';
import { giveMoney } from '../../support/billing/give-money.ts';
import { newDomain } from '../../support/database/domains.ts';
import { bearerSession, makeClient, makeReseller, type Reseller } from '../../support/walk/resellers.ts';

const api = sharedTestApi();
let reseller: Reseller;
let other: Reseller;
beforeAll(async () => {
  reseller = await makeReseller(api, 'reseller@clients.test');
  other = await makeReseller(api, 'other@clients.test');
});

const ask = (method: string, path: string, body?: object, as = reseller.token, headers = {}) =>
  api.ask(method, `/reseller/v1${path}`, { as, ...(body && { body: JSON.stringify(body) }), headers });

describe('a client', () => {
  it('is an account that the reseller manages, with an email to be confirmed', async () => {
    const told = { email: 'new@clients.test', name: 'New' };
    const { status, body } = await ask('POST', '/clients', told);
    const { id, created_at, ...made } = body;
    const state = { email_confirmed: false, active: true, password_set: false, domains: 0 };
    expect([status, made]).toEqual([200, { ...told, ...state }]);
    expect([id, created_at]).toEqual([expect.any(Number), expect.any(String)]);
    expect((await ask('GET', `/clients/${id}`)).body).toEqual(body);
    expect((await ask('GET', '/clients?search=new%40')).body).toEqual([body]);
    expect((await ask('GET', `/clients/${id}/wallet`)).body).toEqual({ balance_rials: 0 });
    const session = await bearerSession(api, id);
    expect((await api.ask('GET', '/whoami', { as: session })).body.provider).toBe(reseller.id);
    const rows = await api.query<{ kind: string; accountId: number }>`
      select kind, account_id as "accountId" from mails where email = 'new@clients.test'`;
    expect(rows).toEqual([{ kind: 'reset', accountId: id }]);
  });

  it('cannot have the email of another account: 409', async () => {
    const { status, body } = await ask('POST', '/clients', { email: 'OWNER@zonefleet.test' });
    expect([status, body.code]).toEqual([409, undefined]);
    expect((await ask('POST', '/clients', { email: 'no email' })).status).toBe(400);
  });

  it('is created in at most 100 attempts per day, taken emails and replays included', async () => {
    const many = await makeReseller(api, 'many@clients.test');
    const taken = { email: 'owner@zonefleet.test' };
    const attempt = (key?: string) =>
      ask('POST', '/clients', taken, many.token, key === undefined ? {} : { 'idempotency-key': key });
    expect((await attempt()).status).toBe(409);
    await api.query`update client_tries set tries = 98 where account_id = ${many.id}`;
    for (const key of ['a', 'b']) expect((await attempt(key)).status).toBe(409);
    const refused = await attempt();
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000);
    await api.query`update client_tries set since = now() - interval '25 hours' where account_id = ${many.id}`;
    expect((await ask('POST', '/clients', { email: 'next@clients.test' }, many.token)).status).toBe(200);
  });

  it('has a name that its reseller can change, but not the email', async () => {
    const id = await makeClient(api, reseller, 'named@clients.test');
    expect((await ask('PATCH', `/clients/${id}`, { name: 'Named' })).body.name).toBe('Named');
    expect((await ask('PATCH', `/clients/${id}`, { name: null })).body).not.toHaveProperty('name');
    expect((await ask('PATCH', `/clients/${id}`, { name: 'x', email: 'x@y.test' })).status).toBe(400);
  });

  it('is rejected once deactivated, while its reseller still manages its domains', async () => {
    const id = await makeClient(api, reseller, 'off@clients.test');
    const session = await bearerSession(api, id);
    const key = await api.makeKey();
    await api.query`update api_keys set account_id = ${id} where id = (select max(id) from api_keys)`;
    const domain = await newDomain(api.db, id, 'off.test.');
    expect((await ask('POST', `/clients/${id}/deactivate`)).body.active).toBe(false);
    expect((await api.ask('GET', '/whoami', { as: session })).status).toBe(401);
    expect((await api.ask('GET', '/whoami', { as: key })).body.code).toBe('account_suspended');
    expect((await ask('GET', `/domains/${domain.id}`)).status).toBe(200);
    expect((await ask('GET', '/clients?status=inactive')).body).toMatchObject([{ id }]);
    expect((await ask('POST', `/clients/${id}/activate`)).body.active).toBe(true);
    expect((await api.ask('GET', '/whoami', { as: key })).status).toBe(200);
  });

  it('cannot be activated by the reseller if the operator deactivated it: 409', async () => {
    const id = await makeClient(api, reseller, 'banned@clients.test');
    await api.query`update accounts set active = false where id = ${id}`;
    expect((await ask('POST', `/clients/${id}/activate`)).status).toBe(409);
    expect((await ask('POST', `/clients/${id}/deactivate`)).body.active).toBe(false);
    expect((await ask('POST', `/clients/${id}/activate`)).status).toBe(409);
  });
});

describe('a reseller receives the same response for what another reseller has and for what does not exist', () => {
  const NOBODYS = 999_999_999;
  const seen = ({ status, headers, text }: Answer) => {
    const { 'x-request-id': _, date: __, ...rest } = headers;
    return { status, text, headers: rest };
  };
  let theirs: { clientId: number; domainId: number; serviceId: number };
  let session: string;
  beforeAll(async () => {
    session = await reseller.session();
    const clientId = await makeClient(api, other, 'theirs@clients.test');
    const { id } = await newDomain(api.db, clientId, 'theirs.test.');
    await giveMoney(api.db, clientId, 1000);
    theirs = { clientId, domainId: id, serviceId: id };
  });

  const routes = RESELLER_ROUTES.filter(
    ({ path, access }) =>
      /\{(clientId|domainId|serviceId)\}/.test(path) ||
      (access.kind === 'domain' && access.domainIn === 'query'),
  );
  it.each(
    routes.map((route) => [`${route.method} ${route.path}`, route] as const),
  )('%s', async (_, route) => {
    const urlOf = (ids: Readonly<Record<string, number | string>>) => {
      const path = route.path
        .replace(/\{(clientId|domainId|serviceId)\}/, (_all, name: string) => String(ids[name]))
        .replace('{type}', 'waf')
        .replace('{code}', 'missing_caa')
        .replaceAll(/\{\w+\}/g, '1');
      return route.path.includes('/analytics/') ? `${path}?domain=${ids.domainId}` : path;
    };
    const asked = async (ids: Readonly<Record<string, number | string>>, as = reseller.token) =>
      seen(await api.ask(route.method, urlOf(ids), { as, headers: { 'idempotency-key': 'foreign' } }));
    const foreign = await asked(theirs);
    expect(foreign.status).toBe(403);
    const absent = route.method === 'GET' ? [NOBODYS, 0, 'theirs.test', '99999999999999999999'] : [NOBODYS];
    for (const id of absent)
      expect(await asked({ clientId: id, domainId: id, serviceId: id })).toEqual(foreign);
    expect(await asked(theirs, session)).toEqual(foreign);
  });

  it('in a body and in a list', async () => {
    const service = (client_id: number) =>
      ask('POST', '/services', { client_id, domain: 'theirs.test', plan_term_id: 1 });
    expect(seen(await service(theirs.clientId))).toEqual(seen(await service(NOBODYS)));
    expect((await service(NOBODYS)).status).toBe(403);
    const list = (id: number) => ask('GET', `/services?client_id=${id}`);
    expect(seen(await list(theirs.clientId))).toEqual(seen(await list(NOBODYS)));
    for (const path of ['/clients', '/services', '/tokens']) {
      const { text } = await ask('GET', path, undefined, await reseller.session());
      expect([path, text.includes('theirs')]).toEqual([path, false]);
    }
  });

  it('and none of it was written', async () => {
    const { body } = await ask('GET', `/clients/${theirs.clientId}/wallet`, undefined, other.token);
    expect(body).toEqual({ balance_rials: 1000 });
    const rows = await api.query`
      select from idempotency_keys where key = 'foreign'`;
    expect(rows).toEqual([]);
  });
});
