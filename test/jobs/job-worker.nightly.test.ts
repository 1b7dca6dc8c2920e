import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { QUEUES } from '../../src/features/every-feature.ts';
import { migrateQueue, type QueuePlace } from '../../src/jobs/connection.ts';
import { JobQueue } from '../../src/jobs/job-queue.ts';
import { type JobWorker, type RunJob, runJobWorker } from '../../src/jobs/job-worker.ts';
import { backgroundChecks, CHECK_DELEGATION, type CheckJob } from '../../src/jobs/jobs.ts';
import { createDatabase } from '../support/database/database.ts';
import { BACKENDS, createQueuePlace } from '../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS, startRedis } from '../support/database/redis.ts';
import { startProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';

const CHILD = fileURLToPath(new URL('../support/processes/check-worker-child.ts', import.meta.url));
const LOCK_MS = 1500;

/** Cleaned up after each test, last one first. */
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

describe.each(BACKENDS)('a killed worker on %s', (backend) => {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  it.skipIf(isMissing).each([
    ['3 checks, with short locks', 3, LOCK_MS],
    ['200 checks, with the locks that checks have', 200, undefined],
  ])(
    `loses none of %s: another worker runs them${isMissing ? NEEDS_REDIS : ''}`,
    async (_, count, lockMs) => {
      const place = await createQueuePlace(backend);
      opened.push(() => place.drop());
      const queue = openQueue(place);
      const ids = Array.from({ length: count }, (_, i) => i + 1);
      await queue.enqueue(backgroundChecks(ids));
      const words = [place.databaseUrl, place.redisUrl ?? '', String(lockMs ?? ''), String(count)];
      const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', CHILD, ...words], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      opened.push(() => child.kill('SIGKILL'));
      let told = '';
      child.stdout?.on('data', (text: Buffer) => (told += text.toString()));
      await until(() => told.split('\n').length === count + 1, 'the child runs them all');
      const seen = new Map<number, boolean>();
      const lock = lockMs !== undefined && { lockMs };
      const options = { concurrency: count, ...lock, onTrouble: () => {}, onFailed: () => {} };
      const run: RunJob<CheckJob> = async ({ domainId }, { again }) => void seen.set(domainId, again);
      const worker = runJobWorker(place, CHECK_DELEGATION, run, options);
      opened.push(() => worker.stop(0));
      child.kill('SIGKILL');
      await until(() => seen.size === count, 'all are run again');
      expect([...seen].sort(([a], [b]) => a - b)).toEqual(ids.map((id) => [id, true]));
      await until(async () => (await queue.depth()).active === 0);
      expect((await queue.depth()).dead).toBe(0);
    },
  );
});

/** A proxy to a database with a queue. */
async function proxiedDatabase() {
  const database = await createDatabase();
  opened.push(() => database.drop());
  await migrateQueue({ databaseUrl: database.url, redisUrl: undefined }, QUEUES);
  const proxy = await startProxy(database.url);
  opened.push(() => proxy.stop());
  return { database, proxy, place: { databaseUrl: proxy.url, redisUrl: undefined } };
}

const isAdded = (queue: JobQueue<CheckJob>, domainId: number) =>
  queue.enqueue(backgroundChecks([domainId])).then(
    () => true,
    () => false,
  );

describe('while Postgres is unavailable', () => {
  it('workers wait and continue automatically, every job runs, and adding fails meanwhile', async () => {
    const { database, proxy, place } = await proxiedDatabase();
    const direct = openQueue({ databaseUrl: database.url, redisUrl: undefined });
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

  it('a producer abandons a silent connection during the silence', async () => {
    const { proxy, place } = await proxiedDatabase();
    const queue = openQueue(place);
    await queue.enqueue(backgroundChecks([1]));
    proxy.pause();
    await expect(queue.enqueue(backgroundChecks([2]))).rejects.toMatchObject({ name: 'QueueUnavailable' });
    proxy.resume();
    await until(() => isAdded(queue, 3));
  });

  it('a queue and a worker that were opened before Postgres was available connect later', async () => {
    const { proxy, place } = await proxiedDatabase();
    proxy.cut();
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

describe.skipIf(!HAS_REDIS)(`while Redis is unavailable${NEEDS_REDIS}`, () => {
  it('adding fails, nothing is added later, and workers continue automatically', async () => {
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
    await until(() => isAdded(queue, 3), 'the queue is back');
    await until(() => seen.includes(3));
    expect(seen).toEqual([1, 3]);
  });
});
