// The wire format of the list. Which domains it has, in which order and on which page, is tested in test/store/domains.

import { beforeAll, expect, it } from 'vitest';
import { DomainListItem } from '../../../src/api/schemas/domain-list-item.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { readPages, sharedTestApi } from '../../support/api/api.ts';
import { saveMembership } from '../../support/database/memberships.ts';

const api = sharedTestApi();
const NAMES = ['alpha.test', 'beta.test', 'delta.test', 'gamma.test', 'xn--bcher-kva.test'];

beforeAll(async () => {
  for (const name of ['gamma.test', 'bücher.test', 'alpha.test', 'delta.test', 'beta.test'])
    await api.makeDomain(name, { dnsMode: name === 'delta.test' ? 'external' : 'managed' });
  const create = (name: string) => api.ask('POST', '/domains/', { as: 'stranger', body: { name } });
  const shared = await create('shared.test');
  await saveMembership(api.db, shared.body.id, api.accountIds.viewer, 'editor');
  await create('strange.test');
});

const list = (query = '', as = 'owner') => api.ask('GET', `/domains/${query}`, { as });
const names = async (query = '', as = 'owner') => {
  const { status, body } = await list(query, as);
  expect([query, status]).toEqual([query, 200]);
  return body.map(({ name }: { name: string }) => name);
};

it('contains the domains that the account owns or shares, and those of a narrowed key', async () => {
  expect(await names()).toEqual(NAMES);
  expect(await names('', 'viewer')).toEqual([...NAMES.slice(0, 4), 'shared.test', 'xn--bcher-kva.test']);
  expect(await names('', 'stranger')).toEqual(['shared.test', 'strange.test']);
  expect(await names('', 'operator')).toHaveLength(7);
  expect((await api.ask('GET', '/domains')).status).toBe(404);
  const key = await api.makeKey({ domains: ['beta.test', 'strange.test', 'xn--bcher-kva.test'] });
  expect(await names('', key)).toEqual(['beta.test', 'xn--bcher-kva.test']);
  expect((await list('?count=true', key)).headers['x-total-count']).toBe('2');
});

it('contains domains with their certificates and, for the owner, subscriptions', async () => {
  const { body } = await list();
  for (const item of body) {
    expect(DomainListItem.strict().parse(item)).toEqual(item);
    const { ssl, subscription, records, changed_at: changedAt, ...domain } = item;
    expect([ssl, records]).toEqual([{ status: 'none' }, 0]);
    expect(subscription).toMatchObject({ domain_id: item.id, status: 'active', plan: { slug: 'pro' } });
    expect(Date.parse(changedAt)).toBeGreaterThanOrEqual(Date.parse(item.created_at));
    const single = (await api.ask('GET', `/domains/${item.name}`)).body;
    if (domain.verification) {
      const { seconds_remaining: _, ...known } = domain.verification;
      expect(single.verification).toMatchObject(known); // only the single domain has the replies of servers
      domain.verification = single.verification;
    }
    expect(single).toEqual(domain);
  }
  for (const item of (await list('', 'viewer')).body) expect(item).not.toHaveProperty('subscription');
  const bare = await api.makeDomain('bare.test');
  await setPlan(api.db, { domainId: bare.id, planSlug: null });
  expect((await list('?search=bare')).body[0]).not.toHaveProperty('subscription');
  await api.ask('DELETE', '/domains/bare.test');
});

it('contains the number of records and the time of the last change', async () => {
  const [before] = (await list('?search=alpha.test')).body;
  const record = { name: 'www', type: 'A', destination: '192.0.2.7', proxied: false };
  const made = await api.ask('POST', '/domains/alpha.test/records/', { body: record });
  const [changed] = (await list('?search=LPHA.t')).body;
  expect(changed.records).toBe(1);
  expect(Date.parse(changed.changed_at)).toBeGreaterThan(Date.parse(before.changed_at));
  await api.ask('DELETE', `/domains/alpha.test/records/${made.body.id}`);
});

it.each([
  ['search=B%C3%9CCH', ['xn--bcher-kva.test']],
  ['search=bu%CC%88ch', ['xn--bcher-kva.test']],
  ['search=', NAMES],
  ['status=pending,%20unverified', NAMES],
  ['status=unverified', ['delta.test']],
  ['dns_mode=managed&search=ta', ['beta.test']],
  ['finding=STALE_DS', ['beta.test']],
  ['role=owner', NAMES],
  ['role=editor', ['shared.test'], 'viewer'],
  ['sort=-name', NAMES.toReversed()],
  ['sort=created_at', ['gamma.test', 'xn--bcher-kva.test', 'alpha.test', 'delta.test', 'beta.test']],
  ['sort=-status', ['delta.test', 'beta.test', 'alpha.test', 'xn--bcher-kva.test', 'gamma.test']],
])('?%s, as a whole and in pages', async (query, expected, as = 'owner') => {
  await api.query`update domains set findings = '[{"code": "STALE_DS", "message": "x"}]' where name = 'beta.test.'`;
  expect(await names(`?${query}`, as)).toEqual(expected);
  const ask = (_method: string, url: string) => api.ask('GET', url, { as });
  const pages = await readPages({ ask }, `/domains/?${query}&limit=2&count=true`);
  expect(pages.flatMap(({ body }) => body.map(({ name }: { name: string }) => name))).toEqual(expected);
  for (const { headers } of pages) expect(headers['x-total-count']).toBe(String(expected.length));
});

it.each([
  ['offset', ['-1', '2147483648']],
  ['sort', ['', 'id', 'NAME']],
  ['status', ['Activ', 'active,']],
  ['dns_mode', ['both']],
  ['finding', ['NO_SUCH']],
  ['role', ['nobody']],
  ['cursor', ['x', '%7B%7D', 'W10', 'e30', 'a'.repeat(3000)]],
  ['search', ['a'.repeat(254), '%00']],
  ['limit', ['2']],
])('responds 400 to a wrong %s', async (name, values) => {
  for (const value of values) {
    const { status, body } = await list(`?limit=1&${name}=${value}`);
    expect([value, status, body.code]).toEqual([value, 400, 'validation_failed']);
    expect(body.fields).toEqual([{ field: name, error: expect.any(String) }]);
  }
});
