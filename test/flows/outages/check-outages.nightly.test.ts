// Checks from the schedule to the saved run, while what they stand on goes away: no result is lost, none counts twice.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { migrateQueue, type QueuePlace } from '../../../src/queue/connection.ts';
import { JobQueue } from '../../../src/queue/job-queue.ts';
import { type JobWorker, runJobWorker } from '../../../src/queue/job-worker.ts';
import { backgroundChecks, CHECK_DELEGATION } from '../../../src/queue/jobs.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { type CheckOutcome, createChecker } from '../../../workers/jobs/check-delegation.ts';
import { runSchedule } from '../../../workers/schedule.ts';
import { createDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { BACKENDS, type Backend } from '../../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS, startRedis } from '../../support/database/redis.ts';
import { RULES } from '../../support/database/saved-checks.ts';
import { startProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const DOOMED = fileURLToPath(new URL('../../support/processes/doomed-checker.ts', import.meta.url));
const LOCK_MS = 1500;
const LEASE_SECONDS = 4;
const OURS = ['ns1.example.net.', 'ns2.example.net.'];

/** Undone after each test, the last first. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
});

async function setUp(backend: Backend, domains: number) {
  const database = await createDatabase();
  opened.push(() => database.drop());
  const redis = backend === 'Redis' ? await startRedis() : undefined;
  if (redis !== undefined) opened.push(() => redis.stop());
  await migrateQueue({ databaseUrl: database.url, redisUrl: redis?.url });
  const accountId = await newAccount(database.db, 'me@example.org');
  for (let i = 0; i < domains; i++) {
    await newDomain(database.db, accountId, `name${i}.com.`, { exempt: true });
  }
  return { database, redisUrl: redis?.url };
}

/** All of a workers process but its main: outcomes as they come. */
function work(
  place: QueuePlace,
  db: Database,
  observeMs: number,
): { outcomes: CheckOutcome[]; dead: unknown[] } {
  const outcomes: CheckOutcome[] = [];
  const dead: unknown[] = [];
  const check = createChecker({
    db,
    resolver: {
      async observeDelegation(domain) {
        await new Promise((resolve) => setTimeout(resolve, observeMs));
        return evidenceOf(domain, OURS);
      },
    },
    rules: RULES,
    breaker: { isFrozen: () => false, count: () => {} },
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  const worker: JobWorker = runJobWorker(place, CHECK_DELEGATION, check, {
    concurrency: 4,
    lockMs: LOCK_MS,
    onTrouble: () => {},
    onFailed: (_, error, isDead) => isDead && dead.push(error),
  });
  opened.push(() => worker.stop(0));
  const queue = new JobQueue(place, CHECK_DELEGATION);
  opened.push(() => queue.close());
  const schedule = runSchedule({
    db,
    queue,
    room: 16,
    idleMs: 50,
    leaseSeconds: LEASE_SECONDS,
    onTrouble: () => {},
  });
  opened.push(() => schedule.stop());
  return { outcomes, dead };
}

async function counted(db: Database): Promise<{ domains: number; runs: number; repeated: number }> {
  const { rows } = await sql<{ domains: number; runs: number; repeated: number }>`
    select count(distinct domain_id)::int as domains, count(*)::int as runs, coalesce(sum(repeated), 0)::int as repeated
    from check_runs`.execute(db);
  return rows[0] as { domains: number; runs: number; repeated: number };
}

describe.each(BACKENDS)('with the queue on %s', (backend) => {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  const needs = isMissing ? NEEDS_REDIS : '';

  it.skipIf(isMissing)(
    `checks stop while Postgres is away, go on by themselves, and each counts once${needs}`,
    async () => {
      const { database, redisUrl } = await setUp(backend, 80);
      const proxy = await startProxy(database.url);
      opened.push(() => proxy.stop());
      const db = openDatabase(proxy.url, { connectTimeoutMs: 1000 });
      opened.push(() => db.destroy());
      const { outcomes, dead } = work({ databaseUrl: proxy.url, redisUrl }, db, 20);
      const saved = () => outcomes.filter(({ kind }) => kind === 'saved').length;
      for (const before of [10, 30, 50]) {
        await until(() => saved() >= before, `${before} are saved`);
        proxy.cut();
        await new Promise((resolve) => setTimeout(resolve, 700));
        proxy.resume();
      }
      const all = { domains: 80, runs: 80, repeated: 0 };
      await until(async () => (await counted(database.db)).domains === 80, 'all are checked');
      expect(await counted(database.db)).toEqual(all);
      const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from domains where status = 'active'`.execute(database.db);
      expect(rows).toEqual([{ n: 80 }]);
      expect(dead).toEqual([]);
      expect(saved()).toBeLessThanOrEqual(80);
    },
  );

  it.skipIf(isMissing)(
    `what a killed process was at is checked by another, and counts once${needs}`,
    async () => {
      const { database, redisUrl } = await setUp(backend, 3);
      const place = { databaseUrl: database.url, redisUrl };
      const queue = new JobQueue(place, CHECK_DELEGATION);
      opened.push(() => queue.close());
      const ids = await database.db.selectFrom('domains').select('id').execute();
      await queue.enqueue(backgroundChecks(ids.map(({ id }) => id)));
      const child = startDoomed('observing', place);
      let told = '';
      child.stdout?.on('data', (text: Buffer) => (told += text.toString()));
      await until(() => told.split('\n').length === 4, 'the child observes all three');
      child.kill('SIGKILL');
      const { dead } = work(place, database.db, 1);
      await until(async () => (await counted(database.db)).domains === 3, 'all are checked');
      expect(await counted(database.db)).toEqual({ domains: 3, runs: 3, repeated: 0 });
      expect(dead).toEqual([]);
    },
  );

  it.skipIf(isMissing).each(['background', 'manual'] as const)(
    `a %s run that was saved by a process that died of it counts once${needs}`,
    async (kind) => {
      const { database, redisUrl } = await setUp(backend, 1);
      const place = { databaseUrl: database.url, redisUrl };
      const queue = new JobQueue(place, CHECK_DELEGATION);
      opened.push(() => queue.close());
      const { id } = await database.db.selectFrom('domains').select('id').executeTakeFirstOrThrow();
      if (kind === 'background') await queue.enqueue(backgroundChecks([id]));
      else await queue.enqueueNow({ domainId: id, kind, request: randomUUID() });
      const child = startDoomed('saved', place);
      await once(child, 'exit');
      expect((await queue.depth()).active).toBe(1);
      expect(await counted(database.db)).toEqual({ domains: 1, runs: 1, repeated: 0 });
      const { outcomes, dead } = work(place, database.db, 1);
      await until(async () => (await queue.depth()).active === 0, 'its job is ended');
      await until(() => outcomes.length > 0);
      expect(outcomes.map((outcome) => outcome.kind)).toEqual([kind === 'manual' ? 'repeated' : 'early']);
      expect(await counted(database.db)).toEqual({ domains: 1, runs: 1, repeated: 0 });
      expect(dead).toEqual([]);
    },
  );
});

function startDoomed(end: 'observing' | 'saved', { databaseUrl, redisUrl = '' }: QueuePlace): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', DOOMED, end, databaseUrl, redisUrl, String(LOCK_MS)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  opened.push(() => child.kill('SIGKILL'));
  return child;
}
