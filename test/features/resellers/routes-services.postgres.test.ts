import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { type Answer, ownApi, startTestApi } from '../../support/api/api.ts';
import { giveMoney } from '../../support/billing/give-money.ts';
import { bearerSession, makeClient, makeReseller, type Reseller } from '../../support/walk/resellers.ts';

const PRICE = 1000;
const api = ownApi(() => startTestApi({ maxNegativeRials: 300 }));
let termId: number;
let dearId: number;
let reseller: Reseller;
let clientId: number;
let runs = 0;
beforeAll(async () => {
  const { db } = api.database;
  termId = (await addTerm(db, 'pro', { days: 30, priceRials: PRICE }))?.terms.at(-1)?.id as number;
  dearId = (await addTerm(db, 'pro', { days: 365, priceRials: 9000 }))?.terms.at(-1)?.id as number;
});
beforeEach(async () => {
  reseller = await makeReseller(api, `reseller-${++runs}@services.test`);
  clientId = await makeClient(api, reseller, `client-${runs}@services.test`);
});

const ask = (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
  api.ask(method, `/reseller/v1${path}`, {
    as: reseller.token,
    ...(body && { body: JSON.stringify(body) }),
    headers,
  });
const order = (more: object = {}) => ({
  client_id: clientId,
  domain: `service-${runs}.test`,
  plan_term_id: termId,
  ...more,
});
const give = (accountId: number, amount: number) => giveMoney(api.db, accountId, amount);
const balances = async () => [
  (await ask('GET', '/wallet')).body.balance_rials,
  (await ask('GET', `/clients/${clientId}/wallet`)).body.balance_rials,
];
const movements = async () => {
  const rows = await api.query<{ account: number; amount: number; type: string }>`
    select account_id as account, amount_rials as amount, ref_type as type from ledger
    where account_id = any(${[reseller.id, clientId]}::bigint[]) and ref_type <> 'adjustment' order by id`;
  return rows.map(({ account, amount, type }) => [account === clientId ? 'client' : 'own', amount, type]);
};

describe('POST /services', () => {
  it('creates domain and subscription, and pays what the client lacks from the reseller’s wallet', async () => {
    await give(reseller.id, 1000);
    await give(clientId, 400);
    const made = await ask('POST', '/services', order());
    expect(made.status).toBe(200);
    const { id, subscription, ...service } = made.body;
    const { client_id, domain } = order();
    const state = { domain_status: 'pending', domain_served: 'apex' };
    expect(service).toEqual({ client_id, domain_id: id, domain, ...state });
    expect(subscription).toMatchObject({ plan_term_id: termId, status: 'active', domain_id: id });
    expect(await balances()).toEqual([400, 0]);
    expect(await movements()).toEqual([
      ['own', -600, 'reseller_autofund'],
      ['client', 600, 'reseller_autofund'],
      ['client', -PRICE, 'subscription'],
    ]);
    expect((await ask('GET', `/services/${id}`)).body).toEqual(made.body);
    expect((await ask('GET', `/services?client_id=${clientId}`)).body).toEqual([made.body]);
    expect((await ask('GET', `/domains/${id}`)).body.user_id).toBe(clientId);
  });

  it('does not use the reseller’s wallet if the client’s balance is sufficient', async () => {
    await give(clientId, PRICE);
    expect((await ask('POST', '/services', order())).status).toBe(200);
    expect(await movements()).toEqual([['client', -PRICE, 'subscription']]);
  });

  it('may use the overdraft; beyond it, it responds credit_limit_reached and creates nothing', async () => {
    await give(reseller.id, 699);
    const refused = await ask('POST', '/services', order());
    expect([refused.status, refused.body.code]).toEqual([402, 'credit_limit_reached']);
    expect(await movements()).toEqual([]);
    expect((await ask('GET', '/services')).body).toEqual([]);
    await give(reseller.id, 1);
    expect((await ask('POST', '/services', order())).status).toBe(200);
    expect(await balances()).toEqual([-300, 0]);
  });

  it('happens once per Idempotency-Key, which never expires', async () => {
    await give(reseller.id, 5000);
    const once = { 'idempotency-key': 'service' };
    const made = await ask('POST', '/services', order(), once);
    const again = await ask('POST', '/services', order(), once);
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([200, 'true', made.body]);
    const rows = await api.query<{ for_ever: boolean }>`
      select for_ever from idempotency_keys where account_id = ${reseller.id}`;
    expect(rows).toEqual([{ for_ever: true }]);
  });

  it('rejects wrong and taken names and unknown terms, without a payment', async () => {
    await give(reseller.id, 5000);
    expect((await ask('POST', '/services', order({ domain: 'not a name' }))).status).toBe(400);
    expect((await ask('POST', '/services', order({ plan_term_id: 999_999 }))).status).toBe(400);
    await api.makeDomain(`taken-${runs}.test`);
    await api.query`update domains set status = 'active' where name = ${`taken-${runs}.test.`}`;
    const taken = await ask('POST', '/services', order({ domain: `taken-${runs}.test` }));
    expect([taken.status, taken.body.code]).toEqual([409, 'domain_taken']);
    expect(await movements()).toEqual([]);
  });
});

it('a machine token reads the plans and the terms on sale, with their prices', async () => {
  const { status, body } = await ask('GET', '/plans');
  expect(status).toBe(200);
  const pro = body.find(({ slug }: { slug: string }) => slug === 'pro');
  expect(pro.terms).toContainEqual({ id: termId, billing_duration_days: 30, price_rials: PRICE });
});

describe('a service', () => {
  it('can change its plan: paid time is credited', async () => {
    await give(reseller.id, 20_000);
    const { id } = (await ask('POST', '/services', order())).body;
    const changed = await ask('POST', `/services/${id}/change-plan`, { plan_term_id: dearId });
    expect([changed.status, changed.body.subscription.plan_term_id]).toEqual([200, dearId]);
    const types = (await movements()).map(([, , type]) => type);
    expect(types).toContain('switch_credit');
    expect((await ask('DELETE', `/services/${id}`)).status).toBe(200);
    const again = await ask('POST', `/services/${id}/change-plan`, { plan_term_id: termId });
    expect([again.status, again.body.subscription.plan_term_id]).toEqual([200, termId]);
  });

  it('can change to a plan that caches less: the default of cache_cap_mb is lowered', async () => {
    await give(reseller.id, 20_000);
    const { id } = (await ask('POST', '/services', order())).body;
    await api.query`update plans set max_cache_cap_mb = 128 where slug = 'free'`;
    const { body: sold } = await ask('GET', '/plans');
    const free = sold.find(({ slug }: { slug: string }) => slug === 'free');
    const change = () => ask('POST', `/services/${id}/change-plan`, { plan_term_id: free.terms[0].id });
    expect([(await change()).status, (await ask('GET', `/domains/${id}`)).body.cache_cap_mb]).toEqual([
      200, 128,
    ]);
    await ask('POST', `/services/${id}/change-plan`, { plan_term_id: termId });
    await ask('PUT', `/domains/${id}`, { cache_cap_mb: 2048 });
    expect((await change()).body.above).toMatchObject([{ what: 'cache_cap_mb', used: 2048, allowed: 128 }]);
  });

  it('keeps its plan if the change costs too much', async () => {
    await give(reseller.id, PRICE);
    const made = await ask('POST', '/services', order());
    const refused = await ask('POST', `/services/${made.body.id}/change-plan`, { plan_term_id: dearId });
    expect([refused.status, refused.body.code]).toEqual([402, 'credit_limit_reached']);
    expect((await ask('GET', `/services/${made.body.id}`)).body).toEqual(made.body);
    expect(await balances()).toEqual([0, 0]);
  });

  it('is cancelled immediately without refund, and the domain stays', async () => {
    await give(reseller.id, PRICE);
    const { id } = (await ask('POST', '/services', order())).body;
    expect((await ask('DELETE', `/services/${id}`)).status).toBe(200);
    expect(await balances()).toEqual([0, 0]);
    expect((await ask('GET', `/domains/${id}`)).status).toBe(200);
    expect((await ask('GET', `/services/${id}`)).body.subscription.plan.slug).toBe('free');
    const statuses = ['active', 'cancelled', 'cancelled'].map((status) => ({ status }));
    expect((await ask('GET', `/domains/${id}/subscriptions`)).body).toMatchObject(statuses);
    expect((await ask('DELETE', `/services/${id}`)).body.code).toBe('wrong_state');
  });
});

it('a client sees no price in anything it can read', async () => {
  await give(reseller.id, 5000);
  expect((await ask('POST', '/services', order())).status).toBe(200);
  const session = await bearerSession(api, clientId);
  const { body: document } = await api.ask('GET', '/openapi.json', { as: null });
  const paths = Object.entries(document.paths as Record<string, { get?: object }>)
    .filter(([path, { get }]) => get !== undefined && !path.startsWith('/reseller/'))
    .map(([path]) => path.replace('{domain}', order().domain))
    .filter((path) => !path.includes('{'));
  const read: string[] = [];
  for (const path of paths) {
    const ofStream = path.endsWith('/events') ? '?once=true' : '';
    const query = path.startsWith('/analytics/') ? `?domain=${order().domain}` : ofStream;
    const { status, text, body } = await api.ask('GET', path + query, { as: session });
    if (status === 200) read.push(path);
    expect([path, membersOf(body).filter((name) => /price/i.test(name))]).toEqual([path, []]);
    expect([path, text.includes(`:${PRICE}`)]).toEqual([path, false]);
  }
  expect(read).toEqual(
    expect.arrayContaining([`/domains/${order().domain}/subscriptions`, '/domains/', '/users/me']),
  );
  expect(read.length).toBeGreaterThan(15);
});

/** Returns the names of all members, at any depth. */
function membersOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...membersOf(member)]);
}
