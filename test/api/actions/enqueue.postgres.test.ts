// The calls that have a worker do something and wait for it: they share the queue and the Idempotency-Key.

import { describe, expect, it } from 'vitest';
import type { CheckJob, ScanJob, VerifyJob } from '../../../src/jobs/jobs.ts';
import { type Answer, ownApi, startTestApi } from '../../support/api/api.ts';
import { FakeQueue } from '../../support/api/fake-queue.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf, makeCheck } from '../../support/world/made-checks.ts';
import { runScan, scanOf } from '../../support/world/made-scans.ts';
import { makeVerification } from '../../support/world/made-verifications.ts';

const api = ownApi(() => startTestApi({ checks, verifications, scans }));
const checks = new FakeQueue<CheckJob>();
const verifications = new FakeQueue<VerifyJob>();
const scans = new FakeQueue<ScanJob>();

interface Waiting<J> {
  readonly dnsMode?: 'external';
  readonly queue: FakeQueue<J>;
  /** Performs the job as a worker would. */
  readonly make: (job: J) => Promise<unknown>;
  /** The part of the response that shows the result. */
  readonly result: (body: Answer['body']) => unknown;
  readonly expected: unknown;
}
const waiting = <J>(path: string, { queue, make, ...rest }: Waiting<J>) => ({
  ...rest,
  path,
  queue,
  makeNow() {
    queue.work = make;
  },
  makeAndFail() {
    queue.work = async (job) => {
      await make(job);
      throw new Error('the queue is lost behind it');
    };
  },
  makeLater: () => make(queue.jobs[0] as J),
});

describe.each([
  waiting('ns-check', {
    queue: checks,
    make: (job) =>
      makeCheck(api.db, job, (name) => evidenceOf(name, ['ns1.example.net.', 'ns2.example.net.'])),
    result: (body) => body.check?.verdict,
    expected: 'match',
  }),
  waiting('verify', {
    dnsMode: 'external',
    queue: verifications,
    make: (job) => makeVerification(api.db, job, () => ({ servers: ['nxdomain', 'nxdomain'] })),
    result: (body) => body.verification?.asked,
    expected: 2,
  }),
  waiting('records/scan-import', {
    queue: scans,
    make: (job) => runScan(api.db, job, async (domain) => scanOf(['www A 198.51.100.1'], { domain })),
    result: (body) => body.created,
    expected: 1,
  }),
])('POST $path', ({ path, dnsMode, queue, makeNow, makeAndFail, makeLater, result, expected }) => {
  let domains = 0;
  const freshDomain = async () => {
    queue.reset();
    const name = `${path.replace('/', '-')}-${++domains}.example`;
    const { id } = await api.makeDomain(name, dnsMode && { dnsMode });
    return { id, url: `/domains/${name}`, ask: (key?: string) => ask(`/domains/${name}/${path}`, key) };
  };
  const ask = (url: string, key?: string) =>
    api.ask('POST', url, key === undefined ? {} : { headers: { 'idempotency-key': key } });

  it('responds 503 without a queue or a worker, and changes nothing', async () => {
    const { id, url, ask } = await freshDomain();
    const state = async () => {
      const { verification, ...domain } = (await api.ask('GET', url)).body;
      const rows = await api.query`select from scans where domain_id = ${id}`;
      return { ...domain, verification: { ...verification, seconds_remaining: 0 }, scans: rows.length };
    };
    const before = await state();
    for (const work of [() => Promise.reject(new Error('the queue cannot be reached')), async () => {}]) {
      queue.work = work;
      queue.waitMs = 50;
      const { status, headers, body } = await ask();
      expect([status, Number(headers['retry-after']) > 0, Object.keys(body)]).toEqual([503, true, ['error']]);
      expect(await state()).toEqual(before);
    }
  });

  it('runs once for concurrent and repeated calls with an Idempotency-Key', async () => {
    const { ask } = await freshDomain();
    queue.work = async () => {};
    const both = Promise.all([ask(`${path} once`), ask(`${path} once`)]);
    await until(() => queue.jobs.length === 1);
    await makeLater();
    const [first, second] = await both;
    const repeat = await ask(`${path} once`);
    expect([first.status, result(first.body)]).toEqual([200, expected]);
    expect([second.text, repeat.text]).toEqual([first.text, first.text]);
    expect(repeat.headers['idempotent-replay']).toBe('true');
    expect(queue.jobs).toHaveLength(1);
  });

  it('does not store a failure, and finds the result of a failed call with the same Idempotency-Key', async () => {
    const { ask } = await freshDomain();
    queue.work = () => Promise.reject(new Error('the queue cannot be reached'));
    expect((await ask(`${path} later`)).status).toBe(503);
    makeAndFail();
    expect((await ask(`${path} later`)).status).toBe(503);
    makeNow();
    const found = await ask(`${path} later`);
    expect([found.status, result(found.body), queue.jobs.length]).toEqual([200, expected, 2]);
    expect(found.headers['idempotent-replay']).toBeUndefined();
  });
});
