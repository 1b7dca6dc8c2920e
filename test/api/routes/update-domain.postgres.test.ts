import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import type { Domain as StoredDomain } from '../../../src/store/domains/domain.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';

const OPERATOR = { by: { kind: 'cli', name: 'test' }, source: 'status' } as const;
const OTHER_SET = ['ns1.example.org', 'ns2.example.org'];

const api = sharedTestApi();
let domain: StoredDomain;
let path: string;
let made = 0;

beforeAll(async () => {
  await inTransaction(api.db, (trx) =>
    saveAnswerSettings(trx, {
      ...TEST_SETTINGS,
      nameserverSets: [...TEST_SETTINGS.nameserverSets, OTHER_SET],
    }),
  );
});
beforeEach(async () => {
  const name = `settings${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}`;
});

const put = (body: unknown, as = 'owner') => api.ask('PUT', path, { as, body });
const read = async () => (await api.ask('GET', path)).body;

describe('PUT domain', () => {
  const SETTINGS: [field: string, value: unknown][] = [
    ['cache_l2_max_gb', 1_000_000],
    ['cache_l2_ttl_days', 1],
    ['cache_cap_mb', 4096],
    ['sec_no_sniff', true],
    ['sec_referrer_policy', true],
    ['sec_strip_headers', true],
    ['markdown_for_agents', true],
    ['outage_alerts', true],
    ['uptime_threshold_pct', 100],
    ['uptime_window_min', 60],
    ['uptime_min_requests', 0],
    ['uptime_min_active_min', 1],
    ['uptime_recover_min', 1440],
  ];
  it('sets developer mode for at most 24 hours, and ends it with a past time', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const tooLong = await put({ developer_mode_until: at(24.1) });
    expect(tooLong).toMatchObject({ status: 400, body: { fields: [{ field: 'developer_mode_until' }] } });
    expect((await put({ developer_mode_until: 'soon' })).status).toBe(400);
    const until = at(23.9);
    expect((await put({ developer_mode_until: until })).body).toMatchObject({ developer_mode_until: until });
    const sentBack = await put(await read());
    expect(sentBack).toMatchObject({ status: 200, body: { developer_mode_until: until } });
    expect((await put({ developer_mode_until: at(-1) })).status).toBe(200);
    expect(await read()).not.toHaveProperty('developer_mode_until');
  });
  it('sets each field alone', async () => {
    let before = await read();
    for (const [field, value] of SETTINGS) {
      const { status, body, headers } = await put({ [field]: value });
      expect([field, status]).toEqual([field, 200]);
      expect(body).toEqual({ ...before, [field]: value, updated_at: expect.any(String) });
      expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at));
      expect(headers).not.toHaveProperty('x-change-id');
      expect(await read()).toEqual(body);
      before = body;
    }
  });

  it.each([
    ['dns_mode', null],
    ['cache_cap_mb', 1024],
    ['svc_ns', []],
    ['svc_ns', ['ns1.example.net']],
    ['svc_ns', ['ns1.example.net', 'ns1.example.org']],
    ['svc_ns[1]', ['ns1.example.net', 'a b']],
    ['colour', 'red'],
  ])('reports a wrong %s, and changes nothing: %j', async (field, value) => {
    const before = await read();
    const { status, body } = await put({ sec_no_sniff: true, [field.replace('[1]', '')]: value });
    expect([status, body.code, body.fields]).toEqual([
      400,
      'validation_failed',
      [{ field, error: expect.any(String) }],
    ]);
    expect(await read()).toEqual(before);
  });

  it('accepts the body of a GET, changed or not', async () => {
    const before = await read();
    const same = await put(before);
    expect([same.status, same.body]).toEqual([200, before]);
    const edited = await put({ ...before, outage_alerts: true });
    expect([edited.status, edited.body.outage_alerts]).toEqual([200, true]);
    const list = await api.ask('GET', '/domains/?search=settings&limit=1000');
    const item = list.body.find(({ name }: { name: string }) => name === before.name);
    expect((await put(item)).status).toBe(200);
    await setPlan(api.db, { domainId: domain.id, planSlug: null });
    expect((await put({ ...(await read()), sec_no_sniff: true })).status).toBe(200);
  });

  it('ignores read-only fields with any value', async () => {
    const before = await read();
    const { status, body } = await put({
      id: 1,
      name: 'x',
      status: 'active',
      serial: null,
      my_role: [],
      findings: 3,
    });
    expect([status, body]).toEqual([200, before]);
  });

  it('keeps all of several concurrent changes', async () => {
    const fields = ['sec_no_sniff', 'sec_referrer_policy', 'sec_strip_headers', 'outage_alerts'];
    const answers = await Promise.all(fields.map((field) => put({ [field]: true })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const after = await read();
    expect(fields.map((field) => after[field])).toEqual([true, true, true, true]);
  });
});

describe('the plan', () => {
  it('limits cache_cap_mb', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    const { status, body } = await put({ cache_cap_mb: 2048 });
    expect([status, body.code, body.limit]).toEqual([403, 'plan_limit', 512]);
    expect((await put({ cache_cap_mb: 256 })).status).toBe(200);
    expect((await put({ cache_cap_mb: 512 })).status).toBe(200);
  });

  it('does not limit an unchanged cache_cap_mb', async () => {
    await put({ cache_cap_mb: 4096 });
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    expect((await put({ cache_cap_mb: 4096 })).status).toBe(200);
    expect((await put({ cache_cap_mb: 2048 })).status).toBe(403);
  });

  it('is required for Markdown', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: null });
    const { status, body } = await put({ markdown_for_agents: true });
    expect([status, body.code, body.error]).toEqual([402, 'no_active_plan', expect.stringContaining('plan')]);
    expect((await put({ markdown_for_agents: false })).status).toBe(200);
    expect((await put({ cache_cap_mb: 128 })).body.code).toBe('no_active_plan');
  });

  it('is checked after the body', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    expect((await put({ cache_cap_mb: 2048, svc_ns: ['a.com'] })).status).toBe(400);
  });
});

describe('svc_ns', () => {
  it('is an accepted set in any order and case, which is then listed first', async () => {
    const before = await read();
    const { status, body, headers } = await put({ svc_ns: ['NS2.Example.ORG.', 'ns1.example.org'] });
    expect(status).toBe(200);
    expect(body.svc_ns).toEqual(OTHER_SET);
    expect(body.svc_ns_sets).toEqual([OTHER_SET, TEST_SETTINGS.nameserverSets[0]]);
    expect(body.serial).toBe(before.serial + 1);
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    const again = await put({ svc_ns: OTHER_SET });
    expect([again.status, again.body.serial]).toEqual([200, body.serial]);
  });
});

describe('dns_mode', () => {
  it('external makes the domain unverified; an active one stays served until its delegation has left', async () => {
    await api.db
      .updateTable('domains')
      .set({ status: 'active', pending_since: null })
      .where('id', '=', domain.id)
      .execute();
    const { status, body } = await put({ dns_mode: 'external' });
    expect(status).toBe(200);
    expect(Domain.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({ dns_mode: 'external', status: 'unverified', served: 'full' });
    expect(body.verification.host).toBe(`_svc-challenge.${body.name}`);
    expect(body).not.toHaveProperty('pending_since');
  });

  it('external ends the service of a domain that was never proved', async () => {
    const { body } = await put({ dns_mode: 'external' });
    expect(body).toMatchObject({ dns_mode: 'external', status: 'unverified', served: 'none' });
  });

  it.each([
    ['owner', 'apex'],
    ['operator', 'full'],
  ])('managed makes the domain pending, served for %s: %s', async (as, served) => {
    await put({ dns_mode: 'external' });
    const { status, body, headers } = await api.ask('PUT', path, { as, body: { dns_mode: 'managed' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ dns_mode: 'managed', status: 'pending', served });
    expect(body).not.toHaveProperty('verification');
    expect(Date.parse(body.next_check_at)).toBeLessThanOrEqual(Date.now());
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
  });

  it('that is equal changes nothing', async () => {
    const before = await read();
    const { status, body, headers } = await put({ dns_mode: 'managed' });
    expect([status, body]).toEqual([200, before]);
    expect(headers).not.toHaveProperty('x-change-id');
  });
});

describe('several settings in one call', () => {
  const changes = async () => (await api.ask('GET', `${path}/changes`)).body;

  it('are one change: nameservers, mode and fields', async () => {
    const before = await read();
    const answered = await put({ svc_ns: OTHER_SET, dns_mode: 'external', sec_no_sniff: true });
    expect(answered.status).toBe(200);
    expect(answered.body).toMatchObject({
      svc_ns: OTHER_SET,
      dns_mode: 'external',
      status: 'unverified',
      sec_no_sniff: true,
      serial: before.serial + 1,
    });
    const [newest, ...older] = await changes();
    expect(older).toHaveLength(1);
    expect(newest).toMatchObject({
      id: Number(answered.headers['x-change-id']),
      serial: before.serial + 1,
      status: { from: 'pending', to: 'unverified' },
    });
  });

  it('are refused together', async () => {
    const before = await read();
    const refused = await put({ dns_mode: 'external', sec_no_sniff: true, svc_ns: ['ns1.example.net'] });
    expect(refused.status).toBe(400);
    expect(await read()).toEqual(before);
    expect(await changes()).toHaveLength(1);
  });
});

it('a domain that is disabled or banned is not changed, and a suspended one is', async () => {
  await setSuspended(api.db, { domainId: domain.id, suspended: true });
  expect((await put({ sec_no_sniff: true })).status).toBe(200);
  expect(await read()).toMatchObject({ suspended: true, suspended_at: expect.any(String) });
  await changeStatus(api.db, { domainId: domain.id, event: 'disable', ...OPERATOR });
  const disabled = await put('{');
  expect([disabled.status, disabled.body.code]).toEqual([409, 'domain_disabled']);
  await changeStatus(api.db, { domainId: domain.id, event: 'ban', ...OPERATOR });
  const banned = await put({ sec_no_sniff: false });
  expect([banned.status, banned.body.code]).toEqual([403, 'domain_banned']);
  expect((await read()).sec_no_sniff).toBe(true);
});
