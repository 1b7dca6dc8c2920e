import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import type { Domain as StoredDomain } from '../../../src/store/domains/domain.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';

const OPERATOR = { by: { kind: 'cli', name: 'test' }, source: 'status' } as const;
const OTHER_SET = ['ns1.example.org', 'ns2.example.org'];

let api: TestApi;
let domain: StoredDomain;
let path: string;
let made = 0;

beforeAll(async () => {
  api = await startTestApi();
  await inTransaction(api.db, (trx) =>
    saveAnswerSettings(trx, {
      ...TEST_SETTINGS,
      nameserverSets: [...TEST_SETTINGS.nameserverSets, OTHER_SET],
    }),
  );
});
afterAll(() => api.stop());
beforeEach(async () => {
  const name = `settings${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}`;
});

const put = (body: unknown, as = 'owner') => api.ask('PUT', path, { as, body });
const read = async () => (await api.ask('GET', path)).body;

describe('changing the settings of a domain', () => {
  const SETTINGS: [field: string, value: unknown][] = [
    ['cache_l2_max_gb', 0],
    ['cache_l2_max_gb', 1_000_000],
    ['cache_l2_ttl_days', 1],
    ...[128, 256, 2048, 4096].map((value): [string, unknown] => ['cache_cap_mb', value]),
    ['sec_no_sniff', true],
    ['sec_referrer_policy', true],
    ['sec_strip_headers', true],
    ['markdown_for_agents', true],
    ['outage_alerts', true],
    ['uptime_threshold_pct', 50],
    ['uptime_threshold_pct', 100],
    ['uptime_window_min', 2],
    ['uptime_window_min', 60],
    ['uptime_min_requests', 0],
    ['uptime_min_active_min', 1],
    ['uptime_recover_min', 1440],
  ];
  it('sets developer mode for at most 24 hours, and a time that has passed ends it', async () => {
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
  it('sets each field by itself and nothing else', async () => {
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

  const number = (...more: unknown[]) => [null, '5', true, 1.5, {}, [], ...more];
  const boolean = [null, 'true', 0, 1, {}, []];
  const WRONG: [field: string, values: unknown[]][] = [
    ['dns_mode', [null, '', 'Managed', 'none', 1, true, {}, []]],
    ['cache_l2_max_gb', number(-1, 1_000_001, 1e300)],
    ['cache_l2_ttl_days', number(0, 8, -1)],
    ['cache_cap_mb', number(0, 127, 129, 1024, 8192, -128, '128')],
    ['sec_no_sniff', boolean],
    ['sec_referrer_policy', boolean],
    ['sec_strip_headers', boolean],
    ['markdown_for_agents', boolean],
    ['outage_alerts', boolean],
    ['uptime_threshold_pct', number(49, 101)],
    ['uptime_window_min', number(1, 61)],
    ['uptime_min_requests', number(-1, 1_000_000_001)],
    ['uptime_min_active_min', number(0, 61)],
    ['uptime_recover_min', number(0, 1441)],
    [
      'svc_ns',
      [null, 'ns1.example.net', 1, {}, [], ['ns1.example.net'], ['ns1.example.net', 'ns1.example.org']],
    ],
    ['colour', ['red', null]],
    ['Dns_Mode', ['managed']],
    ['max_records', [5]],
  ];
  it.each(WRONG)('answers 400 naming %s when it is %j, and changes nothing', async (field, values) => {
    const before = await read();
    for (const value of values) {
      const { status, body } = await put({ sec_no_sniff: true, [field]: value });
      expect([value, status, body.code]).toEqual([value, 400, 'validation_failed']);
      expect(body.fields.map((problem: { field: string }) => problem.field)).toEqual([field]);
    }
    expect(await read()).toEqual(before);
  });

  it.each([
    ['svc_ns[0]', [1, 'ns2.example.net']],
    ['svc_ns[1]', ['ns1.example.net', null]],
    ['svc_ns[1]', ['ns1.example.net', 'a b']],
    ['svc_ns[0]', ['', 'ns2.example.net']],
  ])('names %s of %j', async (field, value) => {
    const { status, body } = await put({ svc_ns: value });
    expect(status).toBe(400);
    expect(body.fields).toEqual([{ field, error: expect.any(String) }]);
  });

  it('needs an object', async () => {
    for (const body of ['null', '[]', '7', '"a"', undefined, '{', '']) {
      expect(
        (await api.ask('PUT', path, { body, headers: { 'content-type': 'application/json' } })).status,
      ).toBe(400);
    }
  });

  it('takes what a GET answered, edited or not', async () => {
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

  it('ignores read-only fields whatever they say', async () => {
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

  it('keeps each of many changes that are made at once', async () => {
    const fields = ['sec_no_sniff', 'sec_referrer_policy', 'sec_strip_headers', 'outage_alerts'];
    const answers = await Promise.all(fields.map((field) => put({ [field]: true })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const after = await read();
    expect(fields.map((field) => after[field])).toEqual([true, true, true, true]);
  });
});

describe('the plan', () => {
  it('sets the ceiling of cache_cap_mb', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    const { status, body } = await put({ cache_cap_mb: 2048 });
    expect([status, body.code, body.limit]).toEqual([403, 'plan_limit', 512]);
    expect((await put({ cache_cap_mb: 256 })).status).toBe(200);
    expect((await put({ cache_cap_mb: 512 })).status).toBe(200);
  });

  it('leaves a cap above its ceiling as it is', async () => {
    await put({ cache_cap_mb: 4096 });
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    expect((await put({ cache_cap_mb: 4096 })).status).toBe(200);
    expect((await put({ cache_cap_mb: 2048 })).status).toBe(403);
  });

  it('is needed for Markdown', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: null });
    const { status, body } = await put({ markdown_for_agents: true });
    expect([status, body.code, body.error]).toEqual([402, 'no_active_plan', expect.stringContaining('plan')]);
    expect((await put({ markdown_for_agents: false })).status).toBe(200);
    expect((await put({ cache_cap_mb: 128 })).body.code).toBe('no_active_plan');
  });

  it('is asked after the body: a wrong field is a 400', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free' });
    expect((await put({ cache_cap_mb: 2048, svc_ns: ['a.com'] })).status).toBe(400);
  });
});

describe('the choice of nameservers', () => {
  it('is one accepted set in any order and spelling, shown first from then on', async () => {
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

describe('the mode', () => {
  it('to external starts again as unverified; what was active stays served until the delegation has left', async () => {
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

  it('to external takes what nothing has proved from the nodes', async () => {
    const { body } = await put({ dns_mode: 'external' });
    expect(body).toMatchObject({ dns_mode: 'external', status: 'unverified', served: 'none' });
  });

  it.each([
    ['owner', 'apex'],
    ['operator', 'full'],
  ])('to managed starts over as pending, and is for %s answered: %s', async (as, served) => {
    await put({ dns_mode: 'external' });
    const { status, body, headers } = await api.ask('PUT', path, { as, body: { dns_mode: 'managed' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ dns_mode: 'managed', status: 'pending', served });
    expect(body).not.toHaveProperty('verification');
    expect(Date.parse(body.next_check_at)).toBeLessThanOrEqual(Date.now());
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
  });

  it('that it has changes nothing', async () => {
    const before = await read();
    const { status, body, headers } = await put({ dns_mode: 'managed' });
    expect([status, body]).toEqual([200, before]);
    expect(headers).not.toHaveProperty('x-change-id');
  });
});

describe('several settings in one call', () => {
  const changes = async () => (await api.ask('GET', `${path}/changes`)).body;

  it('are one change, which X-Change-Id names: nameservers, mode and fields', async () => {
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

  it('are all refused with one of them', async () => {
    const before = await read();
    for (const wrong of [{ svc_ns: ['ns1.example.net'] }, { cache_cap_mb: 1 }]) {
      expect((await put({ dns_mode: 'external', sec_no_sniff: true, ...wrong })).status).toBe(400);
    }
    expect(await read()).toEqual(before);
    expect(await changes()).toHaveLength(1);
  });
});

describe('who may change settings', () => {
  it.each([
    ['owner', 200],
    ['admin', 200],
    ['operator', 200],
    ['editor', 403],
    ['viewer', 403],
    ['stranger', 404],
    ['svc_nobody', 401],
  ])('%s: %i', async (as, status) => {
    const answered = await put({ sec_no_sniff: true }, as);
    expect(answered.status).toBe(status);
    expect((await read()).sec_no_sniff).toBe(status === 200);
    if (status === 200) expect(answered.body.my_role).toBe(as === 'admin' ? 'admin' : 'owner');
  });

  it('is judged before the body', async () => {
    expect((await put('{', 'viewer')).status).toBe(403);
    expect((await put('{', 'stranger')).status).toBe(404);
  });

  it('is refused to all while the domain is disabled or banned, suspended or not', async () => {
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
});
