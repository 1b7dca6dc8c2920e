import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/calls/call.ts';
import type { VerifyJob } from '../../../src/queue/jobs.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
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
  it('is every look with what each server said, the newest first, and the change that it made', async () => {
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
    expect((await api.ask('GET', `${path}/verifications`, { as: 'stranger' })).status).toBe(404);
  });
});

describe('POST verify', () => {
  it('answers the domain, active, with what every server said, and so does GET', async () => {
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

  it('that finds nothing is a 200 as well, and tells when the service looks by itself', async () => {
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

  it('looks for the record of a waiting managed domain that is offered one, and shows it with the offer', async () => {
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

  it('is refused with a 429 once the users of the account asked for a hundred within a minute', async () => {
    const { verify } = await freshDomain();
    work = seeing(ABSENT);
    await api.ask('POST', verify);
    jobs = [];
    // a few fade away until the call
    await sql`update check_shares set manual = 150`.execute(api.database.db);
    const { status, headers } = await api.ask('POST', verify);
    expect([status, Number(headers['retry-after']) > 0, jobs]).toEqual([429, true, []]);
    await sql`delete from check_shares`.execute(api.database.db);
  });

  it('leaves an active domain as it is', async () => {
    const { value, verify } = await freshDomain();
    work = seeing({ servers: [[value]] });
    const { body } = await api.ask('POST', verify);
    work = () => Promise.reject(new Error('no server may be asked'));
    const again = await api.ask('POST', verify);
    const left = (domain: typeof body) => ({ ...domain.verification, seconds_remaining: 0 });
    expect([again.status, left(again.body), jobs.length]).toEqual([200, left(body), 1]);
  });

  it('does not wait for a run that is no longer needed, since another one proved the domain', async () => {
    const { id, value, verify } = await freshDomain();
    waitMs = 60_000;
    work = async () => {
      await makeVerification(api.database.db, { domainId: id, kind: 'operator' }, () => ({
        servers: [[value]],
      }));
    };
    const { status, body } = await api.ask('POST', verify);
    expect([status, body.status, body.verification.found]).toEqual([200, 'active', 1]);
  });

  it('that another call has been left out for ends with its run', async () => {
    const { verify } = await freshDomain();
    work = async () => {};
    const both = [api.ask('POST', verify), api.ask('POST', verify)];
    await until(() => jobs.length === 2);
    await seeing({ ...ABSENT, at: Date.now() + 20 })(jobs[1] as VerifyJob);
    for (const { status, body } of await Promise.all(both)) {
      expect([status, body.verification.asked]).toEqual([200, 2]);
    }
  });

  it('without a queue, and without a worker that looks in time, is a 503 that changes nothing', async () => {
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

  it('is refused in managed mode, to viewers and editors, and while disabled or banned', async () => {
    work = seeing(ABSENT);
    const managed = await freshDomain({ dnsMode: 'managed' });
    const refused = await api.ask('POST', managed.verify);
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
    const { id, verify } = await freshDomain();
    for (const as of ['viewer', 'editor']) expect((await api.ask('POST', verify, { as })).status).toBe(403);
    expect((await api.ask('POST', verify, { as: 'stranger' })).status).toBe(404);
    for (const [event, code] of [
      ['disable', 'domain_disabled'],
      ['ban', 'domain_banned'],
    ] as const) {
      await changeStatus(api.database.db, { domainId: id, event, by: { kind: 'cli' }, source: 'test' });
      expect((await api.ask('POST', verify)).body.code).toBe(code);
    }
    expect(jobs).toEqual([]);
    expect((await api.ask('POST', verify, { as: 'admin' })).status).toBe(403);
  });
});

describe('POST verify with an Idempotency-Key', () => {
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  it('is made once, twice at once too, and a repeat gets the first answer', async () => {
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

  it('finds the run of a call that never got its answer', async () => {
    const { verify } = await freshDomain();
    work = async () => {};
    waitMs = 100;
    expect((await api.ask('POST', verify, keyed('verify-lost'))).status).toBe(503);
    await seeing(ABSENT)(jobs[0] as VerifyJob);
    const found = await api.ask('POST', verify, keyed('verify-lost'));
    expect([found.status, found.body.verification.asked, jobs.length]).toEqual([200, 2, 1]);
  });
});
