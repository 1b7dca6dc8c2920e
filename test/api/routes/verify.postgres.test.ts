import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/calls/call.ts';
import type { VerifyJob } from '../../../src/queue/jobs.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { until } from '../../support/tests/until.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

let api: TestApi;
let domains = 0;
/** What a worker does with a job, and all jobs. */
let work: (job: VerifyJob) => Promise<unknown>;
let jobs: VerifyJob[] = [];
let waitMs = 10_000;
const verifications: Api['verifications'] = {
  get waitMs() {
    return waitMs;
  },
  async enqueueNow(job) {
    jobs.push(job);
    await work(job);
  },
};
const seeing = (said: SaidWorld) => (job: VerifyJob) => makeVerification(api.database.db, job, () => said);
const ABSENT: SaidWorld = { servers: ['nxdomain', 'nxdomain'] };

beforeAll(async () => {
  api = await startTestApi({ verifications });
});
afterAll(() => api?.stop());
afterEach(() => {
  jobs = [];
  waitMs = 10_000;
});

async function freshDomain(options: Parameters<TestApi['makeDomain']>[1] = { dnsMode: 'external' }) {
  const name = `v${++domains}.example`;
  const { id, verification } = await api.makeDomain(name, options);
  const value = verification?.value as string;
  return { id, name, value, path: `/domains/${name}`, verify: `/domains/${name}/verify` };
}

describe('GET verifications', () => {
  it('lists verifications with the servers’ replies and the change, newest first', async () => {
    const { value, verify, path } = await freshDomain();
    expect((await api.ask('GET', `${path}/verifications`)).body).toEqual([]);
    work = seeing(ABSENT);
    await api.ask('POST', verify);
    work = seeing({ servers: [[value], [value]] });
    await api.ask('POST', verify);
    const { status, body } = await api.ask('GET', `${path}/verifications`);
    const [change] = (await api.ask('GET', `${path}/changes?limit=1`)).body;
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { verdict: 'verified', found: 2, asked: 2, value, kind: 'manual', change_id: change.id },
      {
        verdict: 'absent',
        found: 0,
        asked: 2,
        value,
        servers: [{ outcome: 'absent' }, { outcome: 'absent' }],
      },
    ]);
    expect(body[1]).not.toHaveProperty('change_id');
  });
});

describe('POST verify', () => {
  it('returns the active domain with the reply of every server, as GET does', async () => {
    const { id, name, value, verify, path } = await freshDomain();
    work = seeing({ servers: [[value], ['v=spf1 -all', value], 'timeout'] });
    const { status, body } = await api.ask('POST', verify);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name, status: 'active', dns_mode: 'external', served: 'none' });
    expect(body.verification).toEqual({
      host: `_svc-challenge.${name}`,
      type: 'TXT',
      value,
      verified: true,
      expires_at: expect.stringMatching(/Z$/),
      seconds_remaining: expect.any(Number),
      checked_at: expect.stringMatching(/Z$/),
      found: 2,
      asked: 3,
      servers: [
        { server: 'ns1.dns.test', address: '192.0.2.1', outcome: 'found', values: [value] },
        { server: 'ns2.dns.test', address: '192.0.2.2', outcome: 'found', values: ['v=spf1 -all', value] },
        { server: 'ns3.dns.test', address: '192.0.2.3', outcome: 'error' },
      ],
      resolvers: [{ address: '198.51.100.53', outcome: 'absent' }],
      message: expect.stringContaining('2 of 3'),
    });
    expect(jobs).toEqual([
      { domainId: id, kind: 'manual', request: expect.stringMatching(/^[0-9a-f-]{36}$/), turn: 1 },
    ]);
    const { seconds_remaining: _, ...read } = (await api.ask('GET', path)).body.verification;
    expect(body.verification).toMatchObject(read);
    const { body: changes } = await api.ask('GET', `${path}/changes?limit=1`);
    expect(changes[0]).toMatchObject({
      source: 'status',
      actor: { kind: 'system' },
      status: { from: 'unverified', to: 'active' },
    });
  });

  it('that finds nothing returns 200 and the time of the next attempt', async () => {
    const { verify, path } = await freshDomain();
    expect((await api.ask('GET', path)).body.verification).toMatchObject({
      found: 0,
      asked: 0,
      servers: [],
      resolvers: [],
      message: expect.stringContaining('not looked'),
    });
    work = seeing(ABSENT);
    const beforeMs = Date.now();
    const { status, body } = await api.ask('POST', verify);
    const afterMs = Date.now();
    expect([status, body.status]).toEqual([200, 'unverified']);
    const { verified, found, asked, next_attempt_at, message } = body.verification;
    expect([verified, found, asked]).toEqual([false, 0, 2]);
    expect(message).toContain('None of 2');
    expect(Date.parse(next_attempt_at)).toBeGreaterThan(beforeMs + 40_000);
    expect(Date.parse(next_attempt_at)).toBeLessThan(afterMs + 80_000);
    const { body: items } = await api.ask('GET', `/domains/?search=${body.name}`);
    expect(items[0].verification).not.toHaveProperty('servers');
  });

  it('replaces an expired value, and does not look for the new one yet', async () => {
    const { id, value, verify } = await freshDomain();
    work = seeing(ABSENT);
    await api.ask('POST', verify);
    await sql`update domain_verifications set expires_at = now() where domain_id = ${id}`.execute(
      api.database.db,
    );
    const { status, body } = await api.ask('POST', verify);
    expect([status, body.status, jobs.length]).toEqual([200, 'unverified', 1]);
    expect(body.verification).toMatchObject({ verified: false, found: 0, asked: 0, servers: [] });
    expect(body.verification.value).not.toBe(value);
    expect(body.verification.seconds_remaining).toBeGreaterThan(13 * 86_400);
    expect(body.verification).not.toHaveProperty('checked_at');
    work = seeing({ servers: [[value], [value]] });
    expect((await api.ask('POST', verify)).body.verification).toMatchObject({
      verified: false,
      found: 0,
      asked: 2,
    });
  });

  it('looks for the TXT record that a pending managed domain is offered', async () => {
    const name = `v${++domains}.example`;
    const { body: made } = await api.ask('POST', '/domains/', { body: { name, scan: false } });
    const path = `/domains/${name}`;
    const { db } = api.database;
    await api.ask('POST', '/domains/', { body: { name, scan: false }, as: 'stranger' });
    await checkOnce(db, made.id, 'referral ns1.other. ns2.other.');
    const { body: offered } = await api.ask('GET', path);
    const { value } = offered.verification;
    expect(offered.findings).toContainEqual({
      code: 'PREPARE',
      message: expect.stringContaining(`name _svc-challenge.${name}, value ${value}`),
    });
    work = seeing(ABSENT);
    const absent = (await api.ask('POST', `${path}/verify`)).body;
    expect(absent).toMatchObject({
      status: 'pending',
      verification: { verified: false, found: 0, asked: 2 },
    });
    expect(absent.verification).toHaveProperty('next_attempt_at');
    work = seeing({ servers: [[value], [value]] });
    const found = (await api.ask('POST', `${path}/verify`)).body;
    expect(found).toMatchObject({
      status: 'pending',
      served: 'full',
      verification: { verified: true, found: 2, verified_until: expect.stringMatching(/Z$/) },
    });
    expect(found.findings.map(({ code }: { code: string }) => code)).not.toContain('PREPARE');
  });

  it('responds 429 after a hundred requests of the account within a minute', async () => {
    const { verify } = await freshDomain();
    work = seeing(ABSENT);
    await api.ask('POST', verify);
    jobs = [];
    // The count decreases until the call.
    await sql`update check_shares set manual = 150`.execute(api.database.db);
    const { status, headers } = await api.ask('POST', verify);
    expect([status, Number(headers['retry-after']) > 0, jobs]).toEqual([429, true, []]);
    await sql`delete from check_shares`.execute(api.database.db);
  });

  it('does not change an active domain', async () => {
    const { value, verify } = await freshDomain();
    work = seeing({ servers: [[value]] });
    const { body } = await api.ask('POST', verify);
    work = () => Promise.reject(new Error('no server may be asked'));
    const again = await api.ask('POST', verify);
    const left = (domain: typeof body) => ({ ...domain.verification, seconds_remaining: 0 });
    expect([again.status, left(again.body), jobs.length]).toEqual([200, left(body), 1]);
  });

  it('shares the run of a concurrent call', async () => {
    const { verify } = await freshDomain();
    work = async () => {};
    const both = [api.ask('POST', verify), api.ask('POST', verify)];
    await until(() => jobs.length === 2);
    await seeing({ ...ABSENT, at: Date.now() + 20 })(jobs[1] as VerifyJob);
    for (const { status, body } of await Promise.all(both)) {
      expect([status, body.verification.asked]).toEqual([200, 2]);
    }
  });

  it('responds 503 without a queue or a worker, and changes nothing', async () => {
    work = () => Promise.reject(new Error('the queue cannot be reached'));
    const { verify, path } = await freshDomain();
    const steady = async () => {
      const { verification, ...domain } = (await api.ask('GET', path)).body;
      return { ...domain, verification: { ...verification, seconds_remaining: 0 } };
    };
    const before = await steady();
    for (const worker of [work, async () => {}]) {
      work = worker;
      waitMs = 150;
      const { status, headers, body } = await api.ask('POST', verify);
      expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
      expect(body).toEqual({ error: expect.any(String) });
    }
    expect(await steady()).toEqual(before);
  });

  it('is refused in managed mode', async () => {
    const { verify } = await freshDomain({ dnsMode: 'managed' });
    const refused = await api.ask('POST', verify);
    expect([refused.status, refused.body.code, jobs]).toEqual([400, 'wrong_state', []]);
  });
});

describe('POST verify with an Idempotency-Key', () => {
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  it('is carried out once, for concurrent and repeated calls', async () => {
    const { verify } = await freshDomain();
    work = async () => {};
    const both = Promise.all([
      api.ask('POST', verify, keyed('verify-once')),
      api.ask('POST', verify, keyed('verify-once')),
    ]);
    await until(() => jobs.length === 1);
    await seeing(ABSENT)(jobs[0] as VerifyJob);
    const [first, second] = await both;
    const repeat = await api.ask('POST', verify, keyed('verify-once'));
    expect([first.status, second.text, repeat.text]).toEqual([200, first.text, first.text]);
    expect(repeat.headers['idempotent-replay']).toBe('true');
    expect(jobs).toHaveLength(1);
  });

  it('finds the run of a failed call', async () => {
    const { verify } = await freshDomain();
    work = async () => {};
    waitMs = 100;
    expect((await api.ask('POST', verify, keyed('verify-lost'))).status).toBe(503);
    await seeing(ABSENT)(jobs[0] as VerifyJob);
    const found = await api.ask('POST', verify, keyed('verify-lost'));
    expect([found.status, found.body.verification.asked, jobs.length]).toEqual([200, 2, 1]);
  });
});
