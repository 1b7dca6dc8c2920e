import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { migrateQueue, type QueuePlace } from '../../src/queue/connection.ts';
import { JobQueue } from '../../src/queue/job-queue.ts';
import { type JobWorker, type RunJob, runJobWorker } from '../../src/queue/job-worker.ts';
import { backgroundChecks, CHECK_DELEGATION, type CheckJob } from '../../src/queue/jobs.ts';
import { createDatabase } from '../support/database/database.ts';
import { BACKENDS, createQueuePlace } from '../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS, startRedis } from '../support/database/redis.ts';
import { startProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';

const CHILD = fileURLToPath(new URL('../support/processes/check-worker-child.ts', import.meta.url));
const LOCK_MS = 1500;

/** Undone after each test, the last first. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
});

function openQueue(place: QueuePlace): JobQueue<CheckJob> {
  const queue = new JobQueue(place, CHECK_DELEGATION);
  opened.push(() => queue.close());
  return queue;
}

function work(place: QueuePlace, run: RunJob<CheckJob>, concurrency = 5): JobWorker {
  const options = { concurrency, lockMs: LOCK_MS, onTrouble: () => {}, onFailed: () => {} };
  const worker = runJobWorker(place, CHECK_DELEGATION, run, options);
  opened.push(() => worker.stop(0));
  return worker;
}

describe.each(BACKENDS)('a worker on %s', (backend) => {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  it.skipIf(isMissing)(
    `that is killed loses nothing: another runs what it had, and is told${isMissing ? NEEDS_REDIS : ''}`,
    async () => {
      const place = await createQueuePlace(backend);
      opened.push(() => place.drop());
      const queue = openQueue(place);
      await queue.enqueue(backgroundChecks([1, 2, 3]));
      const child: ChildProcess = spawn(
        process.execPath,
        ['--import', 'tsx', CHILD, place.databaseUrl, place.redisUrl ?? '', String(LOCK_MS)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      opened.push(() => child.kill('SIGKILL'));
      let told = '';
      child.stdout?.on('data', (text: Buffer) => (told += text.toString()));
      await until(() => told.split('\n').length === 4, 'the child runs all three');
      child.kill('SIGKILL');
      const seen: { domainId: number; again: boolean }[] = [];
      work(place, async ({ domainId }, { again }) => void seen.push({ domainId, again }));
      await until(() => seen.length === 3);
      expect(seen.sort((a, b) => a.domainId - b.domainId)).toEqual(
        [1, 2, 3].map((domainId) => ({ domainId, again: true })),
      );
      await until(async () => (await queue.depth()).active === 0);
    },
  );
});

describe.each(BACKENDS)('two hundred checks of a killed worker on %s', (backend) => {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  it.skipIf(isMissing)(
    `go on at once in another, with the locks that checks have${isMissing ? NEEDS_REDIS : ''}`,
    async () => {
      const place = await createQueuePlace(backend);
      opened.push(() => place.drop());
      const queue = openQueue(place);
      const ids = Array.from({ length: 200 }, (_, i) => i + 1);
      await queue.enqueue(backgroundChecks(ids));
      const seen = new Map<number, number>();
      const options = { concurrency: 200, onTrouble: () => {}, onFailed: () => {} };
      const child: ChildProcess = spawn(
        process.execPath,
        ['--import', 'tsx', CHILD, place.databaseUrl, place.redisUrl ?? '', '', '200'],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      opened.push(() => child.kill('SIGKILL'));
      let told = '';
      child.stdout?.on('data', (text: Buffer) => (told += text.toString()));
      await until(() => told.split('\n').length === 201, 'the child has them all');
      const worker = runJobWorker(
        place,
        CHECK_DELEGATION,
        async ({ domainId }) => void seen.set(domainId, performance.now()),
        options,
      );
      opened.push(() => worker.stop(0));
      child.kill('SIGKILL');
      const killedMs = performance.now();
      await until(() => seen.size === 200, 'all are begun again');
      const last = Math.max(...seen.values()) - killedMs;
      console.log(
        `${backend}: the last of 200 checks began again ${(last / 1000).toFixed(1)} s after the kill`,
      );
      expect([...seen.keys()].sort((a, b) => a - b)).toEqual(ids);
      await until(async () => (await queue.depth()).active === 0);
      expect((await queue.depth()).dead).toBe(0);
    },
  );
});

describe('while Postgres is away', () => {
  it('workers wait and go on by themselves, every job is run, and adding fails meanwhile', async () => {
    const database = await createDatabase();
    opened.push(() => database.drop());
    await migrateQueue({ databaseUrl: database.url, redisUrl: undefined });
    const proxy = await startProxy(database.url);
    opened.push(() => proxy.stop());
    const direct = openQueue({ databaseUrl: database.url, redisUrl: undefined });
    const place = { databaseUrl: proxy.url, redisUrl: undefined };
    const queue = openQueue(place);
    const ids = Array.from({ length: 60 }, (_, index) => index + 1);
    await queue.enqueue(backgroundChecks(ids));
    const seen = new Set<number>();
    work(place, async ({ domainId }) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      seen.add(domainId);
    });
    await until(() => seen.size >= 20);
    proxy.cut();
    await expect(queue.enqueue(backgroundChecks([999]))).rejects.toMatchObject({ name: 'QueueUnavailable' });
    await direct.enqueue(backgroundChecks([100]));
    proxy.resume();
    await until(() => ids.every((id) => seen.has(id)) && seen.has(100), 'all are run');
    await until(async () => {
      const { waiting, active, delayed } = await direct.depth();
      return waiting + active + delayed === 0;
    }, 'nothing is left over');
    expect((await direct.depth()).dead).toBe(0);
    await queue.enqueue(backgroundChecks([101]));
    await until(() => seen.has(101));
    expect(seen.has(999)).toBe(false);
  });

  it('a producer gives up a silent connection while it is silent', async () => {
    const database = await createDatabase();
    opened.push(() => database.drop());
    await migrateQueue({ databaseUrl: database.url, redisUrl: undefined });
    const proxy = await startProxy(database.url);
    opened.push(() => proxy.stop());
    const queue = openQueue({ databaseUrl: proxy.url, redisUrl: undefined });
    await queue.enqueue(backgroundChecks([1]));
    proxy.pause();
    await expect(queue.enqueue(backgroundChecks([2]))).rejects.toMatchObject({ name: 'QueueUnavailable' });
    proxy.resume();
    await until(() =>
      queue.enqueue(backgroundChecks([3])).then(
        () => true,
        () => false,
      ),
    );
  });

  it('a queue and a worker that were opened before it was there find it', async () => {
    const database = await createDatabase();
    opened.push(() => database.drop());
    await migrateQueue({ databaseUrl: database.url, redisUrl: undefined });
    const proxy = await startProxy(database.url);
    opened.push(() => proxy.stop());
    proxy.cut();
    const place = { databaseUrl: proxy.url, redisUrl: undefined };
    const queue = openQueue(place);
    await expect(queue.enqueue(backgroundChecks([1]))).rejects.toMatchObject({ name: 'QueueUnavailable' });
    const seen: number[] = [];
    work(place, async ({ domainId }) => void seen.push(domainId));
    proxy.resume();
    await queue.enqueue(backgroundChecks([2]));
    await until(() => seen.includes(2));
    expect(seen).toEqual([2]);
  });
});

describe.skipIf(!HAS_REDIS)(`while Redis is away${NEEDS_REDIS}`, () => {
  it('adding fails meanwhile, nothing is added later, and workers go on by themselves', async () => {
    const first = await startRedis();
    const place = { databaseUrl: '', redisUrl: first.url };
    const queue = openQueue(place);
    const seen: number[] = [];
    work(place, async ({ domainId }) => void seen.push(domainId));
    await queue.enqueue(backgroundChecks([1]));
    await until(() => seen.includes(1));
    await first.stop();
    await expect(queue.enqueue(backgroundChecks([2]))).rejects.toMatchObject({ name: 'QueueUnavailable' });
    const second = await startRedis(first.port);
    opened.unshift(() => second.stop());
    await until(
      () =>
        queue.enqueue(backgroundChecks([3])).then(
          () => true,
          () => false,
        ),
      'the queue is back',
    );
    await until(() => seen.includes(3));
    expect(seen).toEqual([1, 3]);
  });
});
