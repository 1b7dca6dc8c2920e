import { randomUUID } from 'node:crypto';
import { stdSerializers } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JobQueue } from '../../src/jobs/job-queue.ts';
import { type JobWorker, type RunJob, runJobWorker } from '../../src/jobs/job-worker.ts';
import {
  backgroundChecks,
  CHECK_DELEGATION,
  type CheckJob,
  VERIFY_TXT,
  type VerifyJob,
} from '../../src/jobs/jobs.ts';
import { BACKENDS, createQueuePlace, type TestQueuePlace } from '../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS } from '../support/database/redis.ts';
import { freePort } from '../support/processes/free-port.ts';
import { until } from '../support/tests/until.ts';

for (const backend of BACKENDS) {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  describe.skipIf(isMissing)(`the queue on ${backend}${isMissing ? NEEDS_REDIS : ''}`, () => {
    let place: TestQueuePlace;
    let queue: JobQueue<CheckJob>;
    const workers: JobWorker[] = [];
    beforeAll(async () => {
      place = await createQueuePlace(backend);
      queue = new JobQueue(place, CHECK_DELEGATION, { backoffMs: 20 });
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
      await queue.queue.obliterate({ force: true });
    });
    afterAll(async () => {
      await queue?.close();
      await place?.drop();
    });

    const run = (handle: RunJob<CheckJob>, concurrency = 5) => {
      const failed: { job: CheckJob; message: string; isDead: boolean }[] = [];
      workers.push(
        runJobWorker(place, CHECK_DELEGATION, handle, {
          concurrency,
          onTrouble: () => {},
          onFailed: (job, { message }, isDead) => failed.push({ job, message, isDead }),
        }),
      );
      return failed;
    };
    const empty = async () => {
      const { waiting, active, delayed } = await queue.depth();
      return waiting + active + delayed === 0;
    };

    it('passes each job to a worker once, and deletes it', async () => {
      const ids = Array.from({ length: 250 }, (_, index) => index + 1);
      await queue.enqueue(backgroundChecks(ids));
      expect(await queue.depth()).toEqual({ waiting: 250, active: 0, delayed: 0, dead: 0 });
      const seen: CheckJob[] = [];
      run(async (job) => void seen.push(job));
      run(async (job) => void seen.push(job));
      await until(empty);
      expect(seen.map(({ domainId }) => domainId).sort((a, b) => a - b)).toEqual(ids);
      expect(seen.every(({ kind }) => kind === 'background')).toBe(true);
      expect(await queue.depth()).toEqual({ waiting: 0, active: 0, delayed: 0, dead: 0 });
      expect(await queue.queue.getJobCounts('completed')).toEqual({ completed: 0 });
    });

    it('keeps one background check per domain while it waits or runs, and accepts the next one afterwards', async () => {
      await queue.enqueue(backgroundChecks([7, 8]));
      await queue.enqueue(backgroundChecks([7, 8, 9]));
      expect((await queue.depth()).waiting).toBe(3);
      const seen: number[] = [];
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      run(async ({ domainId }) => {
        seen.push(domainId);
        await gate;
      });
      await until(() => seen.length === 3);
      await queue.enqueue(backgroundChecks([7]));
      expect((await queue.depth()).waiting).toBe(0);
      go();
      await until(empty);
      await queue.enqueue(backgroundChecks([7]));
      await until(() => seen.length === 4);
      expect([...seen].sort()).toEqual([7, 7, 8, 9]);
    });

    it('puts a check that a caller waits for ahead of all others, even of the same domain', async () => {
      await queue.enqueue(backgroundChecks([1, 2, 3]));
      const [first, second] = [randomUUID(), randomUUID()];
      await queue.enqueueNow({ domainId: 3, kind: 'manual', request: first });
      await queue.enqueueNow({ domainId: 3, kind: 'operator', request: second });
      const seen: CheckJob[] = [];
      run(async (job) => void seen.push(job), 1);
      await until(empty);
      expect(seen).toEqual([
        { domainId: 3, kind: 'manual', request: first },
        { domainId: 3, kind: 'operator', request: second },
        ...[1, 2, 3].map((domainId) => ({ domainId, kind: 'background' })),
      ]);
    });

    it('runs one verification per domain for all waiting callers, and one more for callers that arrive meanwhile', async () => {
      const verifications = new JobQueue(place, VERIFY_TXT);
      const ask = (request: string) => verifications.enqueueNow({ domainId: 3, kind: 'manual', request });
      await ask('waiting');
      await ask('joined');
      await verifications.enqueueNow({ domainId: 4, kind: 'manual', request: 'other domain' });
      await verifications.enqueue([{ domainId: 3, kind: 'background' }]);
      const seen: VerifyJob[] = [];
      const gates: (() => void)[] = [];
      workers.push(
        runJobWorker(
          place,
          VERIFY_TXT,
          async (job, { signal }) => {
            seen.push(job);
            await new Promise<void>((resolve) => {
              gates.push(resolve);
              signal.addEventListener('abort', () => resolve());
            });
          },
          { concurrency: 9, onTrouble: () => {}, onFailed: () => {} },
        ),
      );
      await until(() => seen.length === 3);
      for (const request of ['first', 'second', 'third']) await ask(request);
      expect((await verifications.depth()).waiting).toBe(0);
      for (const go of gates) go();
      await until(() => seen.length === 4);
      for (const go of gates) go();
      await until(async () => {
        const { waiting, active } = await verifications.depth();
        return waiting + active === 0;
      });
      expect(seen.map(({ request }) => request).sort()).toEqual([
        'other domain',
        'third',
        'waiting',
        undefined,
      ]);
      expect(seen.at(-1)?.request).toBe('third');
      await ask('later');
      await until(() => seen.length === 5);
      for (const go of gates) go();
      await until(async () => (await verifications.depth()).active === 0);
      await verifications.close();
    });

    it('attempts a failing run three times, then keeps it as a dead letter without delaying others, and accepts new checks of the domain', async () => {
      const beganAt = Date.now();
      await queue.enqueue(backgroundChecks([5, 6]));
      const agains: boolean[] = [];
      const done: number[] = [];
      const failed = run(async ({ domainId }, { again }) => {
        if (domainId === 6) return void done.push(domainId);
        agains.push(again);
        throw new Error('a bug');
      }, 1);
      await until(async () => (await queue.depth()).dead === 1);
      expect([agains, done]).toEqual([[false, true, true], [6]]);
      const job = { domainId: 5, kind: 'background' };
      await until(() => failed.length === 3);
      expect(failed.map(({ isDead }) => isDead)).toEqual([false, false, true]);
      const [letter, ...more] = await queue.deadLetters();
      expect(more).toEqual([]);
      expect(letter).toMatchObject({ job, reason: 'a bug', attempts: 3 });
      expect(letter?.failedAt).toBeGreaterThanOrEqual(beganAt);
      expect(letter?.failedAt).toBeLessThanOrEqual(Date.now());
      await queue.enqueue(backgroundChecks([5]));
      await until(async () => (await queue.depth()).dead === 2);
    });

    it('returns what a stopped worker cannot finish to the queue', async () => {
      await queue.enqueue(backgroundChecks([1, 2]));
      let begun = 0;
      run(async (_, { signal }) => {
        begun++;
        await new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
      });
      await until(() => begun === 2);
      await workers.pop()?.stop(0); // the runs end only when they are aborted
      expect(await queue.depth()).toEqual({ waiting: 2, active: 0, delayed: 0, dead: 0 });
      const seen: number[] = [];
      run(async ({ domainId }) => void seen.push(domainId));
      await until(empty);
      expect(seen.sort()).toEqual([1, 2]);
    });

    it('lets a nearly finished run end when its worker is stopped', async () => {
      await queue.enqueue(backgroundChecks([1]));
      let [begun, finished] = [0, 0];
      run(async () => {
        begun++;
        await new Promise((resolve) => setTimeout(resolve, 100));
        finished++;
      });
      await until(() => begun === 1);
      await workers.pop()?.stop(5000);
      expect(finished).toBe(1);
      expect(await empty()).toBe(true);
    });
  });

  it.skipIf(isMissing)(
    `a queue reports that ${backend} is unavailable${isMissing ? NEEDS_REDIS : ''}`,
    async () => {
      const port = await freePort();
      const queue = new JobQueue(
        backend === 'Redis'
          ? { databaseUrl: '', redisUrl: `redis://127.0.0.1:${port}` }
          : { databaseUrl: `postgresql://nobody@127.0.0.1:${port}/none`, redisUrl: undefined },
        CHECK_DELEGATION,
      );
      const job = { domainId: 1, kind: 'manual', request: randomUUID() } as const;
      for (const asked of await Promise.allSettled([queue.enqueueNow(job), queue.depth()])) {
        const { reason } = asked as PromiseRejectedResult;
        expect(reason).toMatchObject({ name: 'QueueUnavailable' });
        const why = stdSerializers.err(reason).message.replace('the queue cannot be reached: ', '');
        expect(['no answer in time', `connect ECONNREFUSED 127.0.0.1:${port}`]).toContain(why);
      }
      await queue.close();
    },
  );
}
