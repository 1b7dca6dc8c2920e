// From due to saved: a workers process claims domains in Postgres, brings them through the queue, observes, judges and
// saves them. Counted in Postgres, from the first claim to the last row.

import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../test/support/peers/peers.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster, pinCluster, runOn } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import { type Program, runProgram } from '../program.ts';
import { count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { versionOf } from '../servers/installed.ts';
import { median } from '../statistics.ts';
import { domainDatabase, parentedDomains } from './domain-set.ts';
import type { Parents } from './start-parents.ts';
import { wantedAtLeast } from './wanted.ts';
import { startWorker, type Worker } from './worker.ts';

const DOMAINS = 10_000;
const LONGEST_MS = 300_000;
const POLL_MS = 20;
/** Once the first claim was seen: looking costs Postgres a few milliseconds. */
const LATER_POLL_MS = 200;
/** Of a claim; a saved check is due much later. */
const LEASE_SECONDS = 120;

interface Setup {
  readonly label: string;
  readonly wanted: number;
  readonly databaseUrl: string;
  readonly worker: Worker;
  readonly redis: Program | undefined;
  readonly rounds: Round[];
}

interface Round {
  readonly seconds: number;
  /** Milliseconds of a core for each check. */
  readonly worker: number;
  readonly postgres: number;
  readonly redis: number;
  readonly packets: number;
}

export async function measureQueue(parents: Parents, options: BenchOptions): Promise<string> {
  const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
  const databaseUrl = await domainDatabase(parentedDomains(domains));
  const unpin = await pinCluster(options.loadCpu);
  const results: Setup[] = [];
  try {
    for (const backend of ['postgres', 'redis'] as const) {
      if (backend === 'redis' && versionOf(['redis-server', '--version'], /v=(\S+)/) === undefined) {
        say('  redis-server is not installed: left out');
        continue;
      }
      results.push(await measureBackend(backend, { databaseUrl, domains, parents }, options));
    }
  } finally {
    await unpin();
  }
  return queueTable(results, domains);
}

async function measureBackend(
  backend: 'postgres' | 'redis',
  { databaseUrl, domains, parents }: { databaseUrl: string; domains: number; parents: Parents },
  options: BenchOptions,
): Promise<Setup> {
  const redis = backend === 'redis' ? await startRedis(options) : undefined;
  const worker = await startWorker({ databaseUrl, redisUrl: redis?.url, parents }, options);
  const setup: Setup = {
    label: backend === 'postgres' ? 'Postgres' : 'Redis',
    wanted: backend === 'postgres' ? 500 : 800,
    databaseUrl,
    worker,
    redis: redis?.program,
    rounds: [],
  };
  try {
    await measureRound(setup, domains); // warm up: each domain now has a run, which later rounds repeat
    for (let round = 1; round <= options.rounds; round++) {
      const measured = await measureRound(setup, domains);
      setup.rounds.push(measured);
      say(
        `  ${setup.label}, round ${round} of ${options.rounds}: ${Math.round(domains / measured.seconds)} checks/s; ms each: ` +
          `worker ${measured.worker.toFixed(2)}, Postgres ${measured.postgres.toFixed(2)}, Redis ${measured.redis.toFixed(2)}`,
      );
    }
  } finally {
    await worker.stop();
    await redis?.program.stop();
  }
  return setup;
}

async function startRedis(options: BenchOptions): Promise<{ program: Program; url: string }> {
  const port = await freePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const program = runProgram(['redis-server', ...words], { cpu: options.loadCpu, cwd: options.directory });
  return { program, url: `redis://127.0.0.1:${port}/0` };
}

async function measureRound({ databaseUrl, worker, redis }: Setup, domains: number): Promise<Round> {
  const cluster = await benchCluster();
  const runsBefore = await savedRuns(databaseUrl);
  const packetsBefore = await worker.packets();
  const pids = { worker: worker.pid, postgres: cluster.pid, redis: redis?.pid };
  const used = () =>
    Object.values(pids).map((pid) => (pid === undefined ? 0 : cpuSeconds(pid))) as [number, number, number];
  // Not due yet, so that dead rows of the update can be vacuumed before.
  await runOn(databaseUrl, dueIn('1 hour'), 'vacuum domain_checks', 'checkpoint');
  const before = used();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  let seconds: number;
  try {
    await client.query(dueIn('0'));
    seconds = await untilSaved(client);
  } finally {
    await client.end();
  }
  const [inWorker, inPostgres, inRedis] = used().map(
    (each, i) => ((each - (before[i] as number)) * 1000) / domains,
  );
  const saved = (await savedRuns(databaseUrl)) - runsBefore;
  if (saved !== domains) throw new Error(`${saved} checks were saved of ${domains} domains`);
  return {
    seconds,
    worker: inWorker as number,
    postgres: inPostgres as number,
    redis: inRedis as number,
    packets: ((await worker.packets()) - packetsBefore) / domains,
  };
}

const dueIn = (interval: string) =>
  `update domain_checks set due_at = n.at, next_at = n.at from (select clock_timestamp() + interval '${interval}' as at) n`;

/** By the clock of Postgres. */
async function untilSaved(client: Client): Promise<number> {
  const deadline = performance.now() + LONGEST_MS;
  let firstClaim = Number.POSITIVE_INFINITY;
  for (;;) {
    const { rows } = await client.query<{ left: number; claimed: number | null; now: number }>(`
      select count(*)::integer as left, extract(epoch from clock_timestamp())::float8 as now,
        extract(epoch from min(due_at) filter (where due_at > clock_timestamp() + interval '10 s'))::float8
          - ${LEASE_SECONDS} as claimed
      from domain_checks where due_at < clock_timestamp() + interval '${2 * LEASE_SECONDS} s'`);
    const { left, claimed, now } = rows[0] as (typeof rows)[0];
    firstClaim = Math.min(firstClaim, claimed ?? firstClaim);
    if (left === 0) return now - firstClaim;
    if (performance.now() > deadline)
      throw new Error(`${left} domains are not checked after ${LONGEST_MS / 1000} s`);
    await pause(firstClaim === Number.POSITIVE_INFINITY ? POLL_MS : LATER_POLL_MS);
  }
}

async function savedRuns(url: string): Promise<number> {
  const [row] = await runOn(url, 'select coalesce(sum(repeated + 1), 0)::integer as saved from check_runs');
  return row?.saved as number;
}

function queueTable(setups: readonly Setup[], domains: number): string {
  return table(
    ['queue in', 'checks/s', 'CPU ms a check: worker', 'Postgres', 'Redis', 'packets a check'],
    setups.map(({ label, wanted, rounds, redis }) => {
      const of = (read: (round: Round) => number) => median(rounds.map(read));
      return [
        label,
        wantedAtLeast(
          of((round) => domains / round.seconds),
          wanted,
        ),
        fixed(
          of((round) => round.worker),
          2,
        ),
        fixed(
          of((round) => round.postgres),
          2,
        ),
        redis === undefined
          ? ''
          : fixed(
              of((round) => round.redis),
              2,
            ),
        fixed(
          of((round) => round.packets),
          2,
        ),
      ];
    }),
  ).concat(`\n\n${count(domains)} domains in a round.`);
}
