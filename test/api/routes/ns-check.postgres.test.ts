// test/api/actions/enqueue covers what all calls that wait for a worker have in common.

import { beforeEach, describe, expect, it } from 'vitest';
import type { CheckJob } from '../../../src/jobs/jobs.ts';
import { ownApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { FakeQueue } from '../../support/api/fake-queue.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
const HOUR_S = 3600;
const BEGAN_AT = Date.now();
const queue = new FakeQueue<CheckJob>();
const seeing = (said: Said) => (job: CheckJob) =>
  makeCheck(api.database.db, job, (domain) => evidenceOf(domain, said));
const api = ownApi(() => startTestApi({ checks: queue }));
let domains = 0;

beforeEach(() => queue.reset());

async function freshDomain(options?: Parameters<TestApi['makeDomain']>[1]) {
  const name = `n${++domains}.example`;
  const { id } = await api.makeDomain(name, options);
  const path = `/domains/${name}`;
  return { id, name, path, check: (as = 'owner') => api.ask('POST', `${path}/ns-check`, { as }) };
}

describe('POST ns-check', () => {
  it('returns the domain after the check, with the check', async () => {
    queue.work = seeing(OURS);
    const { id, name, check, path } = await freshDomain();
    const { status, body } = await check();
    expect(status).toBe(200);
    const { check: made, ...domain } = body;
    const nameservers = ['ns1.example.net', 'ns2.example.net'];
    expect(domain).toMatchObject({ id, name, status: 'active', current_ns: nameservers });
    expect(made).toMatchObject({
      domain_id: id,
      kind: 'manual',
      verdict: 'match',
      status_before: 'pending',
      status_after: 'active',
      matched_set: nameservers,
      parent: 'example',
    });
    expect(queue.jobs).toEqual([
      { domainId: id, kind: 'manual', turn: 1, request: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    const { body: read } = await api.ask('GET', path);
    expect(read).toEqual(domain);
    expect(Date.parse(read.last_manual_ns_check_at)).toBeGreaterThanOrEqual(BEGAN_AT);
    const { body: changes } = await api.ask('GET', `${path}/changes?limit=1`);
    expect(changes[0].status).toEqual({ from: 'pending', to: 'active', check_id: made.id });
    const { body: stored } = await api.ask('GET', `${path}/checks/${made.id}`);
    expect(stored).toEqual({ ...made, evidence: expect.any(Array) });
  });

  it('is limited to once per hour for all members of a domain', async () => {
    queue.work = seeing(['ns1.other.test.']);
    const { id, check } = await freshDomain();
    expect((await check('admin')).status).toBe(200);
    const limited = await check();
    expect([limited.status, limited.body.code]).toEqual([429, 'ns_check_limited']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(HOUR_S - 60);
    expect(Number(limited.headers['retry-after'])).toBeLessThanOrEqual(HOUR_S);
    expect(queue.jobs).toHaveLength(1);
    await api.query`
      update domain_checks set last_manual_at = last_manual_at - interval '1 hour' where domain_id = ${id}`;
    expect((await check()).status).toBe(200);
  });

  it.each([
    ['it was requested by a global admin', 'operator', OURS, 'match'],
    ['nothing was learned', 'owner', 'timeout', 'unknown'],
  ] as const)('is not counted if %s', async (_, as, said, verdict) => {
    queue.work = seeing(said);
    const { check } = await freshDomain();
    for (const _ of [1, 2]) {
      const { status, body } = await check(as);
      expect([status, body.check.verdict]).toEqual([200, verdict]);
      expect(body).not.toHaveProperty('last_manual_ns_check_at');
    }
    expect((await check()).status).toBe(200);
  });

  it('is refused to an account with too many checks within a minute', async () => {
    const { id, check } = await freshDomain();
    await api.query`
      insert into check_shares (account_id, slot_ms, manual, at)
      select account_id, 0, 5000, clock_timestamp() from domains where id = ${id}
      on conflict (account_id) do update set manual = 5000, at = clock_timestamp()`;
    expect(await check()).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    await api.query`delete from check_shares`;
    expect(queue.jobs).toEqual([]);
  });

  it('does not delay other writes of the domain', async () => {
    queue.work = async () => {};
    const { path } = await freshDomain();
    const asked = api.ask('POST', `${path}/ns-check`, { headers: { 'idempotency-key': 'slow' } });
    await until(() => queue.jobs.length === 1);
    expect((await api.ask('PUT', path, { body: { sec_no_sniff: true } })).status).toBe(200);
    await seeing(OURS)(queue.jobs[0] as CheckJob);
    expect((await asked).body).toMatchObject({ sec_no_sniff: true, status: 'active' });
  });

  it('is refused in external mode', async () => {
    const { check } = await freshDomain({ dnsMode: 'external' });
    expect(await check()).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
    expect(queue.jobs).toEqual([]);
  });

  it('stops waiting if its client disconnects; the check is counted, and a repeated call finds it', async () => {
    queue.work = async () => {};
    queue.waitMs = 3_600_000;
    const { path } = await freshDomain();
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const leave = new AbortController();
    const headers = { 'idempotency-key': 'gone' };
    const asked = fetch(`${url}${path}/ns-check`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${api.keys.owner}` },
      signal: leave.signal,
    });
    await until(() => queue.jobs.length === 1);
    leave.abort();
    await expect(asked).rejects.toThrow();
    // A repeated call waits for the original call. If that one still waited, it would wait for an hour.
    const repeat = () => api.ask('POST', `${path}/ns-check`, { headers });
    expect(await repeat()).toMatchObject({ status: 429, body: { code: 'ns_check_limited' } });
    await seeing(OURS)(queue.jobs[0] as CheckJob);
    expect(await repeat()).toMatchObject({ status: 200, body: { check: { verdict: 'match' } } });
    expect(queue.jobs).toHaveLength(1);
  });
});
