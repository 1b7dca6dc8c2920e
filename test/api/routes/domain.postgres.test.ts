import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain as StoredDomain } from '../../../src/store/domains/domain.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';

const OTHER_SET = ['ns1.example.org', 'ns2.example.org'];

const api = sharedTestApi();
let domain: StoredDomain;
let path: string;
let made = 0;

beforeAll(async () => {
  const nameserverSets = [...TEST_SETTINGS.nameserverSets, OTHER_SET];
  await inTransaction(api.db, (trx) => saveAnswerSettings(trx, { ...TEST_SETTINGS, nameserverSets }));
});
beforeEach(async () => {
  const name = `single${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}`;
});

const read = async () => (await api.ask('GET', path)).body;
const put = (body: unknown) => api.ask('PUT', path, { body });
const changes = async () => (await api.ask('GET', `${path}/changes`)).body;
const plan = (planSlug: string | null) => setPlan(api.db, { domainId: domain.id, planSlug });
const move = (event: 'disable' | 'ban') =>
  changeStatus(api.db, { domainId: domain.id, event, by: { kind: 'cli', name: 'test' }, source: 'status' });

describe('GET domain', () => {
  it('returns the fields that are set', async () => {
    const { status, body } = await api.ask('GET', path);
    expect(status).toBe(200);
    expect(Domain.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      id: domain.id,
      cache_l2_max_gb: 10,
      cache_l2_ttl_days: 7,
      cache_cap_mb: 512,
      uptime_threshold_pct: 80,
    });
    for (const unset of ['developer_mode_until', 'moved_since', 'suspended_at', 'current_ns', 'verification'])
      expect(body).not.toHaveProperty(unset);
    expect(JSON.stringify(body)).not.toContain('null');
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('accepts a name with a slash, as in classless reverse zones, and responds 404 to other slashes', async () => {
    await api.makeDomain('0/25.2.0.192.in-addr.arpa');
    const { body } = await api.ask('GET', '/domains/0%2F25.2.0.192.in-addr.arpa');
    expect(body.name).toBe('0/25.2.0.192.in-addr.arpa');
    for (const other of [`/domains/${domain.id}/`, `${path}/`])
      expect((await api.ask('GET', other)).status).toBe(404);
  });
});

describe('PUT domain', () => {
  it('sets each field individually', async () => {
    let before = await read();
    for (const [field, value] of Object.entries({
      cache_l2_max_gb: 1_000_000,
      cache_l2_ttl_days: 1,
      cache_cap_mb: 4096,
      sec_no_sniff: true,
      sec_referrer_policy: true,
      sec_strip_headers: true,
      markdown_for_agents: true,
      outage_alerts: true,
      uptime_threshold_pct: 100,
      uptime_window_min: 60,
      uptime_min_requests: 0,
      uptime_min_active_min: 1,
      uptime_recover_min: 1440,
    })) {
      const { status, body, headers } = await put({ [field]: value });
      expect([field, status]).toEqual([field, 200]);
      expect(body).toEqual({ ...before, [field]: value, updated_at: expect.any(String) });
      expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at));
      expect(headers).not.toHaveProperty('x-change-id');
      expect(await read()).toEqual(body);
      before = body;
    }
  });

  it('sets developer mode for at most 24 hours, and ends it with a past time', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const tooLong = await put({ developer_mode_until: at(24.1) });
    expect(tooLong).toMatchObject({ status: 400, body: { fields: [{ field: 'developer_mode_until' }] } });
    const until = at(23.9);
    expect((await put({ developer_mode_until: until })).body).toMatchObject({ developer_mode_until: until });
    const sentBack = await put({ developer_mode_until: until });
    expect(sentBack).toMatchObject({ status: 200, body: { developer_mode_until: until } });
    expect((await put({ developer_mode_until: at(-1) })).status).toBe(200);
    expect(await read()).not.toHaveProperty('developer_mode_until');
  });

  it.each([
    ['cache_cap_mb', 1024],
    ['svc_ns', []],
    ['svc_ns', ['ns1.example.net']],
    ['svc_ns', ['ns1.example.net', 'ns1.example.org']],
    ['svc_ns[1]', ['ns1.example.net', 'a b']],
    ['colour', 'red'],
    ['status', 'active'],
  ])('reports a wrong %s, and changes nothing: %j', async (field, value) => {
    const before = await read();
    await plan('free'); // The plan allows less than 2048, but is checked later.
    const { status, body } = await put({
      dns_mode: 'external',
      cache_cap_mb: 2048,
      sec_no_sniff: true,
      [field.replace('[1]', '')]: value,
    });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields).toEqual([{ field, error: expect.any(String) }]);
    expect(await read()).toMatchObject({ ...before, updated_at: expect.any(String) });
    expect(await changes()).toHaveLength(1);
  });

  it('accepts the values of an earlier response, even without a plan', async () => {
    const before = await read();
    const { cache_cap_mb, dns_mode, svc_ns, sec_no_sniff } = before;
    const values = { cache_cap_mb, dns_mode, svc_ns, sec_no_sniff };
    const same = await put(values);
    expect([same.status, same.body]).toEqual([200, before]);
    expect(same.headers).not.toHaveProperty('x-change-id');
    await plan(null);
    expect((await put({ ...values, sec_no_sniff: true })).status).toBe(200);
  });

  it('names the read-only fields of a body that came from a response', async () => {
    const { status, body } = await put({ ...(await read()), outage_alerts: true });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields).toContainEqual({ field: 'serial', error: 'is read-only: leave it out' });
    expect((await read()).outage_alerts).toBe(false);
  });

  it('applies all of several concurrent changes', async () => {
    const fields = ['sec_no_sniff', 'sec_referrer_policy', 'sec_strip_headers', 'outage_alerts'];
    const answers = await Promise.all(fields.map((field) => put({ [field]: true })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const after = await read();
    expect(fields.map((field) => after[field])).toEqual([true, true, true, true]);
  });

  it('limits changed settings to the plan', async () => {
    const statusOf = async (body: object) => (await put(body)).status;
    await put({ cache_cap_mb: 4096 });
    await plan('free');
    const caps = [4096, 2048, 512].map((cache_cap_mb) => ({ cache_cap_mb }));
    const statuses = [];
    for (const body of caps) statuses.push(await statusOf(body));
    expect(statuses).toEqual([200, 403, 200]);
    await plan(null);
    expect(await statusOf({ markdown_for_agents: false })).toBe(200);
  });

  it('accepts a set in any order and case, which is then listed first', async () => {
    const before = await read();
    const { status, body, headers } = await put({ svc_ns: ['NS2.Example.ORG.', 'ns1.example.org'] });
    expect([status, body.svc_ns]).toEqual([200, OTHER_SET]);
    expect(body.svc_ns_sets).toEqual([OTHER_SET, TEST_SETTINGS.nameserverSets[0]]);
    expect(body.serial).toBeGreaterThan(before.serial);
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    const again = await put({ svc_ns: OTHER_SET });
    expect([again.status, again.body.serial]).toEqual([200, body.serial]);
  });
});

it('DELETE domain deletes the domain and releases its name immediately', async () => {
  const { serial } = await read();
  const forced = await api.ask('DELETE', path, { body: { force: true } });
  expect([forced.status, forced.body.fields]).toEqual([400, [{ field: 'force', error: 'unknown field' }]]);
  const { status, body, headers } = await api.ask('DELETE', path, {
    headers: { 'content-type': 'text/plain' },
  });
  expect([status, body]).toEqual([200, { message: expect.any(String) }]);
  const last = Number(headers['x-zone-serial']);
  expect(last).toBeGreaterThan(serial);
  expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
  for (const method of ['GET', 'DELETE']) expect((await api.ask(method, path)).status).toBe(404);
  const taken = await api.ask('POST', '/domains/', { as: 'stranger', body: { name: path.split('/')[2] } });
  expect(taken.status).toBe(200);
  expect(taken.body.serial).toBeGreaterThan(last);
});

it('POST enable makes a disabled domain pending', async () => {
  const enable = () => api.ask('POST', `${path}/enable`, { as: 'admin' });
  expect(await enable()).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
  await move('disable');
  const { status, body, headers } = await enable();
  expect([status, body]).toMatchObject([200, { status: 'pending', my_role: 'admin' }]);
  // As for a new domain, only the apex is answered until a check has queried the parent.
  expect((await read()).served).toBe('apex');
  expect(headers['x-zone-serial']).toBe(String(body.serial));
  expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
});
