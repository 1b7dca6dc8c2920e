// The cost for Postgres of searching due domains while almost none is due: a million of them, spread over a day.

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { migrateQueue } from '../../src/jobs/connection.ts';
import { JobQueue } from '../../src/jobs/job-queue.ts';
import { CHECK_DELEGATION } from '../../src/jobs/jobs.ts';
import {
  type ClaimPlace,
  claimDueDomains,
  claimStatement,
} from '../../src/store/checks/claim-due-domains.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { runSchedule } from '../../workers/jobs/schedule.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import { count, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { domainDatabase, scheduledDomains } from './domain-set.ts';

const DOMAINS = 1_000_000;
const PARENTS = 1500;
const SECONDS = 30;
/** Like the scheduler's query when the queue has room. */
const CLAIM = { limit: 400, perParent: 100, after: undefined, leaseSeconds: 120 };
/** Free slots of the queue, which is never full here. */
const ROOM = 1000;
/** Time until Postgres has added a connection's work to its statistics. */
const STATISTICS_MS = 2000;
const WANTED_PERCENT = 5;

export async function measureScheduler(options: BenchOptions): Promise<string[]> {
  const domains = options.zones ?? DOMAINS;
  const url = await domainDatabase(scheduledDomains(domains, PARENTS));
  await makeFewDue(url);
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    await claimDueDomains(db, CLAIM);
    const claims = await overSeconds(url, (seconds) => claimEachSecond(db, seconds));
    const schedule = await overSeconds(url, (seconds) => runWholeSchedule(db, url, seconds));
    const plan = await explain(db);
    const [row] = await runOn(url, 'select count(distinct parent)::integer as parents from domain_checks');
    say(`  ${claims.percent.toFixed(2)} %, ${schedule.percent.toFixed(2)} % of a core`);
    return [
      `${count(domains)} domains of ${count(row?.parents as number)} parents, due evenly over a day; ${SECONDS} s each.`,
      table(
        ['', 'domains claimed', 'CPU of Postgres, % of one core'],
        [
          ['one claim per second', count(claims.claimed), judged(claims.percent, WANTED_PERCENT)],
          [
            'the complete schedule, with its queue in Postgres',
            count(schedule.claimed),
            judged(schedule.percent, undefined),
          ],
        ],
      ),
      `The plan of a claim:\n\n\`\`\`\n${plan}\n\`\`\``,
    ];
  } finally {
    await db.destroy();
  }
}

/** With --keep, up to all of them may have become due since they were created. */
async function makeFewDue(url: string): Promise<void> {
  const [row] = await runOn(
    url,
    `select count(*) filter (where due_at < now() + interval '1 hour') > count(*) / 10 as many from domain_checks`,
  );
  if (row?.many !== true) return;
  await runOn(
    url,
    `update domain_checks set due_at = now() + random() * interval '1 day'`,
    'vacuum (analyze) domain_checks',
    'checkpoint',
  );
}

interface Cost {
  readonly claimed: number;
  readonly percent: number;
}

async function overSeconds(url: string, work: (seconds: number) => Promise<void>): Promise<Cost> {
  const { pid } = await benchCluster();
  const claimed = async () => {
    const [row] = await runOn(
      url,
      "select sum(n_tup_upd)::integer as rows from pg_stat_user_tables where relname = 'domain_checks'",
    );
    return row?.rows as number;
  };
  await pause(STATISTICS_MS);
  const claimedBefore = await claimed();
  const startedMs = performance.now();
  const before = cpuSeconds(pid);
  await work(SECONDS);
  const percent = ((cpuSeconds(pid) - before) * 100_000) / (performance.now() - startedMs);
  await pause(STATISTICS_MS);
  return { claimed: (await claimed()) - claimedBefore, percent };
}

async function claimEachSecond(db: Database, seconds: number): Promise<void> {
  const startedMs = performance.now();
  let after: ClaimPlace | undefined;
  for (let second = 1; second <= seconds; second++) {
    after = (await claimDueDomains(db, { ...CLAIM, after })).after;
    await pause(Math.max(0, startedMs + second * 1000 - performance.now()));
  }
}

/** No process takes the jobs: another part of the benchmark measures that. */
async function runWholeSchedule(db: Database, databaseUrl: string, seconds: number): Promise<void> {
  const place = { databaseUrl, redisUrl: undefined };
  const queue = new JobQueue(place, CHECK_DELEGATION);
  try {
    await migrateQueue(place, [CHECK_DELEGATION.queue]);
    await queue.queue.obliterate({ force: true });
    const schedule = runSchedule({
      db,
      queue,
      room: ROOM,
      onTrouble: (error) => say(`  the schedule: ${error}`),
    });
    await pause(seconds * 1000);
    await schedule.stop();
  } finally {
    await queue.close();
  }
}

/** Rejects a plan that reads or sorts domains that are not due. */
async function explain(db: Database): Promise<string> {
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain (analyze, costs off, buffers off, timing off, summary off) ${claimStatement(CLAIM)}`.execute(db);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  if (/Seq Scan on domain_checks/.test(plan)) throw new Error(`a claim reads more than it should:\n${plan}`);
  return plan;
}
