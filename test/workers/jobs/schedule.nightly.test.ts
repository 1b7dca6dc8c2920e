import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CheckJob } from '../../../src/jobs/jobs.ts';
import type { Rounds } from '../../../src/jobs/run-rounds.ts';
import { runSchedule, type ScheduleOptions } from '../../../workers/jobs/schedule.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const { db } = sharedDatabase();
let accountId: number;
const schedules: Rounds[] = [];
beforeEach(async () => {
  accountId = await newAccount(db, 'me@example.org');
});
afterEach(() => Promise.all(schedules.splice(0).map((schedule) => schedule.stop())));

/** Due immediately, because new domains are pending. */
async function domains(count: number, parent = 'com.'): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) ids.push((await newDomain(db, accountId, `name${i}.${parent}`)).id);
  return ids;
}

const idsOf = ({ domainId, others = [] }: CheckJob) => [domainId, ...others];

function fakeQueue() {
  const queue = {
    waiting: 0,
    rounds: 0,
    broken: false,
    taken: [] as number[],
    largest: 0,
    async depth() {
      queue.rounds++;
      if (queue.broken) throw new Error('away');
      return { waiting: queue.waiting, active: 0, delayed: 0, dead: 0 };
    },
    async enqueue(jobs: readonly CheckJob[]) {
      if (queue.broken) throw new Error('away');
      const ids = jobs.flatMap(idsOf);
      queue.largest = Math.max(queue.largest, ids.length);
      queue.taken.push(...ids);
    },
  };
  return queue;
}

function schedule(queue: ScheduleOptions['queue'], rest: Partial<ScheduleOptions> = {}): unknown[] {
  const troubles: unknown[] = [];
  schedules.push(
    runSchedule({
      db,
      queue,
      room: 400,
      idleMs: 10,
      onTrouble: (error) => troubles.push(error),
      ...rest,
    }),
  );
  return troubles;
}

const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);

test('many parents take turns; with few parents, each round takes more of each than the one before', async () => {
  for (const [parent, count] of [
    ['com.', 65],
    ['org.', 4],
  ] as const)
    await domains(count, parent);
  const queue = fakeQueue();
  const rounds: number[] = [];
  const { enqueue } = queue;
  queue.enqueue = async (jobs) => {
    if (jobs.length > 0) rounds.push(jobs.flatMap(idsOf).length);
    await enqueue(jobs);
  };
  schedule(queue);
  await until(() => queue.taken.length === 69);
  expect(rounds).toEqual([20 + 4, 40, 5]);
});

test('an outage of the queue is reported, and nothing is lost', async () => {
  const queue = fakeQueue();
  queue.broken = true;
  const ids = await domains(3);
  const troubles = schedule(queue, { leaseSeconds: 1 });
  await until(() => troubles.length === 4);
  queue.broken = false;
  await until(() => queue.taken.length === 3);
  expect(sorted(queue.taken)).toEqual(ids);
});
