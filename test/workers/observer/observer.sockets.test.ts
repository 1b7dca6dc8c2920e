// The observer with an API that works, is unavailable, hangs, or is malicious.

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { printName } from '../../../src/dns/name.ts';
import type { ObserveOptions } from '../../../src/resolver/resolver.ts';
import { Observer } from '../../../workers/observer/observer.ts';
import type { VantageReply } from '../../../workers/observer/vantage-client.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const JOBS = '/vantage/v1/jobs';
const NOTHING: VantageReply = { status: 200, text: '{"jobs":[]}', clockAheadMs: 0 };
const TAKEN: VantageReply = { status: 200, text: '{"taken":true}', clockAheadMs: 0 };

let observer: Observer | undefined;
afterEach(async () => {
  await observer?.stop();
  observer = undefined;
});

const jobOf = (name: string, leftMs = 30_000) => ({
  id: randomUUID(),
  name,
  deadline: new Date(Date.now() + leftMs).toISOString(),
  fresh: true,
  thorough: false,
});
const listing = (jobs: readonly object[], clockAheadMs = 0): VantageReply => ({
  status: 200,
  text: JSON.stringify({ jobs }),
  clockAheadMs,
});

/** Waits until the signal aborts. */
function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => {
    if (signal.aborted) fail(signal.reason);
    signal.addEventListener('abort', () => fail(signal.reason));
  });
}

function begin(api: {
  /** The first responses; then the API waits. An error means that it is unavailable. */
  jobs: (VantageReply | Error)[];
  answer?: (body: { id: string; name: string; evidence: { domain: string } }) => VantageReply | Error;
  observe?: (name: string, options: ObserveOptions) => Promise<Evidence>;
  now?: () => number;
}) {
  const outcomes: string[] = [];
  const troubles: (string | undefined)[] = [];
  const asked: { max: number }[] = [];
  const answers: { id: string; name: string; evidence: { domain: string } }[] = [];
  const looked: [string, ObserveOptions][] = [];
  observer = new Observer({
    client: {
      async post(path, body, { signal }) {
        const isForJobs = path === JOBS;
        if (isForJobs) asked.push(body as { max: number });
        else answers.push(body as (typeof answers)[number]);
        const reply = isForJobs ? api.jobs.shift() : (api.answer?.(answers.at(-1) as never) ?? TAKEN);
        if (reply instanceof Error) throw reply;
        return reply ?? (await never(signal));
      },
    },
    resolver: {
      async observeDelegation(name, options = {}) {
        looked.push([printName(name), options]);
        return (await api.observe?.(printName(name), options)) ?? evidenceOf(name, ['ns1.example.net.']);
      },
    },
    onOutcome: (outcome, detail) => outcomes.push(detail === undefined ? outcome : `${outcome}: ${detail}`),
    onApi: (trouble) => troubles.push(trouble),
    ...(api.now && { now: api.now }),
  });
  observer.start();
  return { observer, outcomes, troubles, asked, answers, looked };
}

describe('an observer', () => {
  it('observes each name as requested, and answers with the result', async () => {
    const [first, second] = [jobOf('Example.org'), { ...jobOf('example.net'), fresh: false, thorough: true }];
    const { observer, outcomes, answers, looked, asked } = begin({ jobs: [listing([first, second])] });
    await until(() => outcomes.length === 2);
    expect(outcomes).toEqual(['taken', 'taken']);
    expect(looked.map(([name, { fresh, isThorough }]) => [name, fresh, isThorough])).toEqual([
      ['example.org.', true, false],
      ['example.net.', false, true],
    ]);
    expect(answers.map(({ id, name, evidence }) => [id, name, evidence.domain])).toEqual([
      [first.id, 'Example.org', 'example.org.'],
      [second.id, 'example.net', 'example.net.'],
    ]);
    expect(asked[0]).toEqual({ max: 16, waitSeconds: 20 });
    expect(observer.trouble).toBeUndefined();
  });

  it('continues if the API is unavailable, rejects, sends nonsense or hangs, and reports only changes', async () => {
    const away = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const { observer, troubles, outcomes } = begin({
      jobs: [
        away,
        { ...NOTHING, status: 503 },
        { ...NOTHING, text: '<html>' },
        NOTHING,
        away,
        listing([jobOf('example.org')]),
      ],
    });
    expect(observer.trouble).toBe('the API has not been reached yet');
    await until(() => outcomes.length === 1);
    expect(troubles).toEqual(['connect ECONNREFUSED', undefined, 'connect ECONNREFUSED', undefined]);
  });

  it('reports whether the API rejects its key or its clock', async () => {
    const reasonOf = async (clockAheadMs: number) => {
      const { troubles } = begin({ jobs: [{ status: 401, text: '', clockAheadMs }] });
      await until(() => troubles.length > 0);
      await observer?.stop();
      return troubles[0];
    };
    expect(await reasonOf(2000)).toContain('this name and key');
    expect(await reasonOf(90_000)).toBe(
      'the API responds with status 401: the clock here is 90 s behind that of the API',
    );
    expect(await reasonOf(-90_000)).toContain('90 s ahead of');
  });

  it('measures the time of a job by the API’s clock', async () => {
    const late = jobOf('late.example.org', -30_000);
    const { outcomes } = begin({ jobs: [listing([late]), listing([late], -50_000)] });
    await until(() => outcomes.length === 2);
    expect(outcomes).toEqual(['refused: the deadline has passed: late.example.org', 'taken']);
  });

  it('does not answer after the deadline, and stops queries for that name', async () => {
    let ended = false;
    const { outcomes, answers } = begin({
      jobs: [listing([jobOf('slow.example.org', 300)])],
      observe: (_, { signal }) =>
        never(signal as AbortSignal).finally(() => {
          ended = true;
        }),
    });
    await until(() => outcomes.length === 1);
    expect([outcomes, answers, ended]).toEqual([['late: slow.example.org'], [], true]);
  });

  it('repeats an answer while the API is unavailable, and gives up at the deadline', async () => {
    let tries = 0;
    const { outcomes, answers } = begin({
      jobs: [listing([jobOf('a.example.org')]), listing([jobOf('b.example.org', 400)])],
      answer({ name }) {
        if (name === 'b.example.org') return { ...TAKEN, status: 502 };
        return tries++ < 2 ? new Error('away') : TAKEN;
      },
    });
    await until(() => outcomes.length === 2);
    expect([...outcomes].sort()).toEqual(['late: b.example.org', 'taken']);
    expect(answers.filter(({ name }) => name === 'a.example.org')).toHaveLength(3);
  });

  it('does not repeat an answer that the API rejected', async () => {
    const { outcomes, answers } = begin({
      jobs: [listing(['a', 'b', 'c'].map((label) => jobOf(`${label}.example.org`)))],
      answer({ name }) {
        if (name.startsWith('a')) return { ...TAKEN, text: '{"taken":false,"reason":"too late"}' };
        return name.startsWith('b') ? { ...TAKEN, status: 400 } : { ...TAKEN, text: 'what?' };
      },
    });
    await until(() => outcomes.length === 3);
    expect(outcomes).toEqual([
      'dropped: too late',
      'dropped: the API responds with status 400',
      'dropped: the API does not report whether it accepts the answer',
    ]);
    expect(answers).toHaveLength(3);
  });

  it('is no weapon for a compromised API: no private names, no surplus jobs, no duplicates', async () => {
    const one = jobOf('example.org');
    const { outcomes, looked, asked } = begin({
      jobs: [
        listing([
          jobOf('router.home.arpa'),
          ...Array.from({ length: 40 }, (_, i) => jobOf(`n${i}.example.org`)),
        ]),
        listing([one, one]),
      ],
      observe: (_, { signal }) => never(signal as AbortSignal),
    });
    await until(() => outcomes.length === 26 && asked.length === 3);
    expect(looked).toHaveLength(17);
    expect(outcomes.filter((outcome) => outcome.includes('more jobs than requested'))).toHaveLength(24);
  });

  it('runs at most 64 jobs concurrently, within its budget, whatever the API sends', async () => {
    const endless = {
      shift: () => listing(Array.from({ length: 16 }, (_, i) => jobOf(`n${i}.example.org`))),
    };
    const held = begin({
      jobs: endless as unknown as VantageReply[],
      observe: (_, { signal }) => never(signal as AbortSignal),
    });
    await until(() => held.looked.length === 64);
    await new Promise((done) => setImmediate(done));
    expect(held.observer.running()).toBe(64);
    await held.observer.stop();
    const at = Date.now();
    const quick = begin({ jobs: endless as unknown as VantageReply[], now: () => at });
    await until(() => quick.looked.length >= 240);
    await new Promise((done) => setImmediate(done));
    expect(quick.looked).toHaveLength(240);
  });

  it('ends while it requests jobs and while it observes', async () => {
    const { observer, outcomes, answers } = begin({
      jobs: [listing([jobOf('example.org')])],
      observe: (_, { signal }) => never(signal as AbortSignal),
    });
    await until(() => observer.running() === 1);
    await observer.stop();
    expect([observer.running(), outcomes, answers]).toEqual([0, [], []]);
  });
});
