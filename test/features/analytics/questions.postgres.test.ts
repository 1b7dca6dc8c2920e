// Which domain a query about requests concerns, and which plan it requires. The store has no requests.

import { beforeAll, expect, it } from 'vitest';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { NO_REQUESTS } from '../../support/analytics/no-requests.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

const api = ownApi(() => startTestApi({ analytics: NO_REQUESTS }));
beforeAll(async () => {
  await api.makeDomain('shop.test');
});

const summary = (query: string, as = 'owner') => api.ask('GET', `/analytics/summary${query}`, { as });

it.each([
  ['summary', 'path', 'cart'],
  ['summary', 'path', `/${'x'.repeat(2048)}`],
  ['summary', 'hostname', 'x'.repeat(256)],
  ['top-requests', 'metric', 'uri'],
  ['logs', 'limit', '1001'],
  ['logs', 'limit', '0'],
])('%s rejects a wrong %s', async (section, name, value) => {
  const path = `/analytics/${section}?${new URLSearchParams({ domain: 'shop.test', [name]: value })}`;
  const { status, body } = await api.ask('GET', path);
  expect([status, body.code, body.fields[0].field]).toEqual([400, 'validation_failed', name]);
});

it.each([
  ['', { field: 'domain', error: 'is required' }],
  ['?domain=', { field: 'domain', error: 'is required' }],
  ['?domain=shop.test&domain=other.test', { field: 'domain', error: 'must not be repeated' }],
  ['?domain=shop.test&from=1', { field: 'from', error: 'unknown parameter' }],
])('rejects the query "%s"', async (query, field) => {
  for (const as of query.includes('from') ? ['owner'] : ['owner', 'stranger']) {
    const { status, body } = await summary(query, as);
    expect([status, body.fields]).toEqual([400, [field]]);
  }
});

it('finds the domain by its name in any case, with or without a final dot, and never by its id', async () => {
  const { id } = (await api.ask('GET', '/domains/shop.test')).body;
  for (const text of ['SHOP.Test', 'shop.test.']) {
    const { status, body } = await summary(`?domain=${text}`);
    expect([text, status, body.total_requests]).toEqual([text, 200, 0]);
  }
  expect((await summary(`?domain=${id}`)).status).toBe(404);
  for (const text of ['shop.test', 'none.test', id])
    expect((await summary(`?domain=${text}`, 'stranger')).body).toEqual({ error: 'domain not found' });
});

it('responds 402 without a plan, and 403 if the plan lacks the feature', async () => {
  const sections = ['visitors', 'top-uris', 'unreachable-reasons', 'requests-compare'];
  const logs = ['logs', 'top-requests?metric=uris'];
  const { id: domainId } = await api.makeDomain('plans.test');
  const has = (monitoring_enabled: boolean, logs_enabled: boolean) =>
    setPlan(api.db, { domainId, planSlug: 'free', overrides: { monitoring_enabled, logs_enabled } });
  const outcomes = async (names: readonly string[]) => {
    const found = new Set<string>();
    for (const name of names) {
      const [path, query = ''] = name.split('?');
      const { status, body } = await api.ask('GET', `/analytics/${path}?domain=plans.test&${query}`);
      found.add([status, body.code, body.feature].join(' ').trim());
    }
    return [...found].join();
  };
  await setPlan(api.db, { domainId, planSlug: null });
  expect(await outcomes(['summary', ...sections, ...logs])).toBe('402 no_active_plan');
  await has(true, false);
  expect(await outcomes(['summary', ...sections])).toBe('200');
  expect(await outcomes(logs)).toBe('403 plan_feature logs_enabled');
  await has(false, true);
  expect(await outcomes(['summary', ...logs])).toBe('200');
  expect(await outcomes(sections)).toBe('403 plan_feature monitoring_enabled');
});
