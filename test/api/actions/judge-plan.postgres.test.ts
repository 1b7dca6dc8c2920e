// Calls that are refused by the gates of a plan. Every gate with a call is covered.

import { beforeAll, expect, it } from 'vitest';
import { GATES } from '../../../src/billing/gates.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { NO_REQUESTS } from '../../support/analytics/no-requests.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';
import { makeChain } from '../../support/certificates/make-certificate.ts';

type Built = {
  [G in keyof typeof GATES]: (typeof GATES)[G]['isBuilt'] extends true ? G : never;
}[keyof typeof GATES];
type Asked = readonly [method: string, path: string, body: object | undefined];

const record = { name: 'new', type: 'A', destination: '192.0.2.1' };
const { leaf, middle, root } = await makeChain(['gated.test']);
const upload = { certificate: leaf.pem + middle.pem + root.pem, private_key: leaf.key };

const feature = (name: string) => ({ code: 'plan_feature', feature: name });
const limit = (most: number) => ({ code: 'plan_limit', limit: most });
const summaryOf = (section: string): Asked => ['GET', `/analytics/${section}?domain=gated.test`, undefined];

/**
 * Calls that the gates refuse, and the problem without the entitlement. Undefined if the gate is open for such a
 * plan. The traffic gate refuses no call: `test/features/analytics/traffic.nightly.test.ts`.
 */
const CALLS: Record<Exclude<Built, 'traffic'>, readonly [ask: Asked, shut: object | undefined]> = {
  import: [['POST', '/records/import', { records: [{ ...record, name: 'imported' }] }], undefined],
  markdown_for_agents: [['PUT', '', { markdown_for_agents: true }], undefined],
  records: [['POST', '/records/', record], limit(1)],
  cache_cap_mb: [['PUT', '', { cache_cap_mb: 4096 }], limit(512)],
  host_header: [['PUT', '/records/ID', { host_header: 'other.test' }], feature('host_header_edit_enabled')],
  rules: [['POST', '/rules/waf/', {}], feature('rules_enabled')],
  rules_of_a_type: [['POST', '/rules/captcha/', {}], limit(0)],
  cache_purge: [['DELETE', '/cache/', {}], feature('cache_purge_enabled')],
  certificates: [['POST', '/ssl', upload], feature('custom_ssl_enabled')],
  analytics: [summaryOf('summary'), undefined],
  analytics_sections: [summaryOf('visitors'), feature('monitoring_enabled')],
  raw_logs: [summaryOf('logs'), feature('logs_enabled')],
};

const paid = [402, expect.objectContaining({ code: 'no_active_plan' })];
const refused = (problem: object) => [403, expect.objectContaining(problem)];

/** Status and problem of each call for a domain without an active plan. */
const WITHOUT_PLAN: Record<keyof typeof CALLS, unknown> = {
  import: paid,
  markdown_for_agents: refused(feature('has_active_plan')),
  records: refused(limit(0)),
  cache_cap_mb: refused(limit(0)),
  host_header: refused(feature('host_header_edit_enabled')),
  rules: refused(feature('rules_enabled')),
  rules_of_a_type: refused(feature('rules_enabled')),
  cache_purge: refused(feature('cache_purge_enabled')),
  certificates: refused(feature('custom_ssl_enabled')),
  analytics: paid,
  analytics_sections: paid,
  raw_logs: paid,
};

const api = ownApi(() => startTestApi({ analytics: NO_REQUESTS }));
let domain: Domain;
let recordId: number;

beforeAll(async () => {
  domain = await api.makeDomain('gated.test', { planSlug: 'free' });
  const { body } = await api.ask('POST', '/domains/gated.test/records/', {
    body: { ...record, name: 'old' },
  });
  recordId = body.id;
});

const ask = ([method, path, body]: Asked) => {
  const below = path.startsWith('/analytics/') ? '' : '/domains/gated.test';
  return api.ask(method, below + path.replace('ID', String(recordId)), { body });
};
const plan = (planSlug: string | null, overrides: Parameters<typeof setPlan>[1]['overrides'] = null) =>
  setPlan(api.db, { domainId: domain.id, planSlug, ...(planSlug !== null && { overrides }) });

it.each(Object.keys(CALLS) as (keyof typeof CALLS)[])('%s', async (gate) => {
  const [asked, shut] = CALLS[gate];
  await plan(null);
  const without = await ask(asked);
  expect([without.status, without.body]).toEqual(WITHOUT_PLAN[gate]);
  if (shut !== undefined) {
    const isRules = gate === 'rules';
    await plan('free', {
      max_records: 1,
      max_rules_per_set: 0,
      rules_enabled: !isRules,
      cache_purge_enabled: false,
      monitoring_enabled: false,
      logs_enabled: false,
    });
    const refused = await ask(asked);
    expect([refused.status, refused.body]).toEqual([403, expect.objectContaining(shut)]);
    await plan('free', {
      max_records: 9,
      max_cache_cap_mb: 4096,
      host_header_edit_enabled: true,
      custom_ssl_enabled: true,
      cache_purge_enabled: true,
      monitoring_enabled: true,
      logs_enabled: true,
    });
  } else await plan('free');
  expect((await ask(asked)).status).toBe(200);
});

it('covers every gate that exists', () => {
  const built = Object.entries(GATES).flatMap(([name, { isBuilt }]) => (isBuilt ? [name] : []));
  expect(built.sort()).toEqual([...Object.keys(CALLS), 'traffic'].sort());
});

it('allows an existing host header to be kept and removed, but not changed', async () => {
  await plan('free', { host_header_edit_enabled: true });
  const path = `/domains/gated.test/records/${recordId}`;
  const { body: read } = await api.ask('PUT', path, { body: { host_header: 'kept.test' } });
  await plan('free');
  expect((await api.ask('PUT', path, { body: { ...read, ttl: 600 } })).status).toBe(200);
  const other = await api.ask('PUT', path, { body: { host_header: 'b.test' } });
  expect(other.body).toMatchObject(feature('host_header_edit_enabled'));
  const batch = { create: [{ ...record, name: 'b', host_header: 'b.test' }] };
  const refused = await api.ask('PUT', '/domains/gated.test/records/batch', { body: batch });
  const items = [{ list: 'create', index: 0, field: 'host_header' }];
  expect(refused).toMatchObject({ status: 403, body: { items } });
  expect((await api.ask('PUT', path, { body: { host_header: '' } })).status).toBe(200);
});

it('omits an import item whose host header the plan does not include', async () => {
  await plan('free');
  const records = [
    { ...record, name: 'i1', host_header: 'b.test' },
    { ...record, name: 'i2' },
  ];
  const { status, body } = await api.ask('POST', '/domains/gated.test/records/import', { body: { records } });
  const failed = [{ index: 0, error: expect.stringContaining('host_header') }];
  expect([status, body]).toMatchObject([200, { created: 1, failed }]);
});

it('applies the gate after value errors and before conflicts', async () => {
  await plan('free', { max_records: 0 });
  const path = '/domains/gated.test/records/';
  const statuses = [
    { ...record, name: 'old', ttl: 1 }, // exists already
    { ...record, name: 'old' },
  ].map(async (body) => (await api.ask('POST', path, { body })).body.code);
  expect(await Promise.all(statuses)).toEqual(['validation_failed', 'plan_limit']);
});
