import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/calls/call.ts';
import type { CheckJob } from '../../../src/queue/jobs.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
const HOUR_S = 3600;

const BEGAN_AT = Date.now();
let api: TestApi;
let domains = 0;
/** What a worker does with a job, and all jobs. */
let work: (job: CheckJob) => Promise<unknown>;
let jobs: CheckJob[] = [];
let waitMs = 10_000;
const checks: Api['checks'] = {
  get waitMs() {
    return waitMs;
  },
  async enqueueNow(job) {
    jobs.push(job);
    await work(job);
  },
};
const seeing = (said: Said) => (job: CheckJob) =>
  makeCheck(api.database.db, job, (domain) => evidenceOf(domain, said));

beforeAll(async () => {
  api = await startTestApi({ checks });
});
afterAll(() => api?.stop());
afterEach(() => {
  jobs = [];
  waitMs = 10_000;
});

async function freshDomain(options?: Parameters<TestApi['makeDomain']>[1]) {
  const name = `n${++domains}.example`;
  const { id } = await api.makeDomain(name, options);
  return { id, name, path: `/domains/${name}`, check: `/domains/${name}/ns-check` };
}

async function lastManual(id: number): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select last_manual_at as at from domain_checks where domain_id = ${id}`.execute(api.database.db);
  return rows[0]?.at ?? null;
}

describe('POST ns-check', () => {
  it('returns the domain after the check, with the check', async () => {
    work = seeing(OURS);
    const { id, name, check, path } = await freshDomain();
    const { status, body } = await api.ask('POST', check);
    expect(status).toBe(200);
    const { check: made, ...domain } = body;
    expect(domain).toMatchObject({
      id,
      name,
      status: 'active',
      current_ns: ['ns1.example.net', 'ns2.example.net'],
    });
    expect(made).toMatchObject({
      domain_id: id,
      kind: 'manual',
      verdict: 'match',
      status_before: 'pending',
      status_after: 'active',
      matched_set: ['ns1.example.net', 'ns2.example.net'],
      parent: 'example',
    });
    expect(jobs).toEqual([
      { domainId: id, kind: 'manual', turn: 1, request: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    const { body: read } = await api.ask('GET', path);
    expect(read).toEqual(domain);
    expect(Date.parse(read.last_manual_ns_check_at)).toBeGreaterThanOrEqual(BEGAN_AT);
    const { body: changes } = await api.ask('GET', `${path}/changes?limit=1`);
    expect(changes[0]).toMatchObject({
      source: 'status',
      actor: { kind: 'system' },
      status: { from: 'pending', to: 'active', check_id: made.id },
    });
    expect((await api.ask('GET', `${path}/checks/${made.id}`)).body).toEqual({
      ...made,
      evidence: expect.any(Array),
    });
  });

  it('is limited to once per hour for all members of a domain', async () => {
    work = seeing(['ns1.other.test.']);
    const { id, check } = await freshDomain();
    expect((await api.ask('POST', check, { as: 'admin' })).status).toBe(200);
    const limited = await api.ask('POST', check);
    expect([limited.status, limited.body.code]).toEqual([429, 'ns_check_limited']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(HOUR_S - 60);
    expect(Number(limited.headers['retry-after'])).toBeLessThanOrEqual(HOUR_S);
    expect(jobs).toHaveLength(1);
    const other = await freshDomain();
    expect((await api.ask('POST', other.check)).status).toBe(200);
    await sql`
      update domain_checks set last_manual_at = last_manual_at - interval '1 hour' where domain_id = ${id}`.execute(
      api.database.db,
    );
    expect((await api.ask('POST', check)).status).toBe(200);
  });

  it('is unlimited for global admins, and not counted', async () => {
    work = seeing(OURS);
    const { id, check } = await freshDomain();
    for (const _ of [1, 2]) expect((await api.ask('POST', check, { as: 'operator' })).status).toBe(200);
    expect(await lastManual(id)).toBeNull();
    expect((await api.ask('POST', check)).status).toBe(200);
  });

  it('is not counted if nothing was learnt', async () => {
    work = seeing('timeout');
    const { id, check } = await freshDomain();
    const { status, body } = await api.ask('POST', check);
    expect([status, body.status, body.check.verdict]).toEqual([200, 'pending', 'unknown']);
    expect(body.check.findings.map(({ code }: { code: string }) => code)).toEqual(['PARENT_UNREACHABLE']);
    expect(body).not.toHaveProperty('last_manual_ns_check_at');
    expect(await lastManual(id)).toBeNull();
    expect((await api.ask('POST', check)).status).toBe(200);
  });

  it('responds 503 without a queue, and changes nothing', async () => {
    work = () => Promise.reject(new Error('the queue cannot be reached'));
    const { id, check, path } = await freshDomain();
    const before = (await api.ask('GET', path)).body;
    const { status, headers, body } = await api.ask('POST', check);
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(body).toEqual({ error: expect.any(String) });
    expect((await api.ask('GET', path)).body).toEqual(before);
    expect(await lastManual(id)).toBeNull();
  });

  it('responds 503 if no worker makes the check in time, and is not counted', async () => {
    work = async () => {};
    waitMs = 50;
    const { id, check } = await freshDomain();
    const { status, headers } = await api.ask('POST', check);
    expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
    expect(await lastManual(id)).toBeNull();
  });

  it('does not delay other writes of the domain', async () => {
    work = async () => {};
    const { check, path } = await freshDomain();
    const asked = api.ask('POST', check, { headers: { 'idempotency-key': 'slow' } });
    await until(() => jobs.length === 1);
    expect((await api.ask('PUT', path, { body: { sec_no_sniff: true } })).status).toBe(200);
    await seeing(OURS)(jobs[0] as CheckJob);
    expect((await asked).body).toMatchObject({ sec_no_sniff: true, status: 'active' });
  });

  it('is refused in external mode', async () => {
    const { id, check } = await freshDomain({ dnsMode: 'external' });
    const refused = await api.ask('POST', check);
    expect([refused.status, refused.body.code, jobs]).toEqual([400, 'wrong_state', []]);
    expect(await lastManual(id)).toBeNull();
  });
});

describe('POST ns-check with an Idempotency-Key', () => {
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  it('is carried out once, and a repeat gets the first response', async () => {
    work = seeing(OURS);
    const { check } = await freshDomain();
    const first = await api.ask('POST', check, keyed('once'));
    const repeat = await api.ask('POST', check, keyed('once'));
    expect([first.status, repeat.status, repeat.text]).toEqual([200, 200, first.text]);
    expect([first.headers['idempotent-replay'], repeat.headers['idempotent-replay']]).toEqual([
      undefined,
      'true',
    ]);
    expect(jobs).toHaveLength(1);
    const other = await freshDomain();
    expect((await api.ask('POST', other.check, keyed('once'))).body.code).toBe('idempotency_mismatch');
    expect(jobs).toHaveLength(1);
  });

  it('is carried out once for two concurrent calls', async () => {
    work = async () => {};
    const { check } = await freshDomain();
    const both = Promise.all([api.ask('POST', check, keyed('twin')), api.ask('POST', check, keyed('twin'))]);
    await until(() => jobs.length === 1);
    await seeing(OURS)(jobs[0] as CheckJob);
    const [first, second] = await both;
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text]);
    expect(jobs).toHaveLength(1);
  });

  it('stores no failure', async () => {
    work = () => Promise.reject(new Error('the queue cannot be reached'));
    const { check } = await freshDomain();
    expect((await api.ask('POST', check, keyed('later'))).status).toBe(503);
    work = seeing(OURS);
    const again = await api.ask('POST', check, keyed('later'));
    expect([again.status, again.headers['idempotent-replay']]).toEqual([200, undefined]);
  });

  it('finds the check of a failed call', async () => {
    work = async () => {};
    waitMs = 100;
    const { check } = await freshDomain();
    expect((await api.ask('POST', check, keyed('lost'))).status).toBe(503);
    await seeing(OURS)(jobs[0] as CheckJob);
    const found = await api.ask('POST', check, keyed('lost'));
    expect([found.status, found.body.check.verdict, jobs.length]).toEqual([200, 'match', 1]);
  });
});

describe('a client that disconnects', () => {
  it('ends the wait; the check is counted, and a repeat finds it', async () => {
    work = async () => {};
    waitMs = 3_600_000;
    const { check } = await freshDomain();
    await api.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = api.app.server.address() as { port: number };
    const leave = new AbortController();
    const headers = { 'idempotency-key': 'gone' };
    const asked = fetch(`http://127.0.0.1:${port}${check}`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${api.keys.owner}` },
      signal: leave.signal,
    });
    await until(() => jobs.length === 1);
    leave.abort();
    await expect(asked).rejects.toThrow();
    // A repeat waits for the call that it repeats: if that call still waited, the repeat would wait for an hour.
    const repeat = await api.ask('POST', check, { headers });
    expect([repeat.status, repeat.body.code]).toEqual([429, 'ns_check_limited']);
    await seeing(OURS)(jobs[0] as CheckJob);
    const found = await api.ask('POST', check, { headers });
    expect([found.status, found.body.check.verdict, jobs.length]).toEqual([200, 'match', 1]);
  });
});
