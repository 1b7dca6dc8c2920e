// From due to saved: a workers process claims domains in Postgres, passes them through the queue, and observes, evaluates
// and saves them.

import { freePort } from '../../test/support/processes/free-port.ts';
import type { BenchOptions } from '../part.ts';
import { pinCluster, runOn } from '../postgres/cluster.ts';
import { type Program, runProgram } from '../program.ts';
import { count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { versionOf } from '../servers/installed.ts';
import { median } from '../statistics.ts';
import { domainDatabase, parentedDomains } from './domain-set.ts';
import { type Checked, measureRound, type Round } from './measure-round.ts';
import type { Parents } from './start-parents.ts';
import { wantedAtLeast } from './wanted.ts';
import { startWorker } from './worker.ts';

const DOMAINS = 10_000;

interface Setup extends Checked {
  readonly label: string;
  readonly wanted: number;
  readonly rounds: Round[];
}

export async function measureQueue(parents: Parents, options: BenchOptions): Promise<string> {
  const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
  const databaseUrl = await domainDatabase(parentedDomains(domains));
  // The zones of new domains are checked too, which would be part of the first round.
  await runOn(
    databaseUrl,
    `insert into child_checks (domain_id, due_at, wanted_ns)
       select id, now() + interval '7 days', delegated_ns from domains on conflict do nothing`,
  );
  const unpin = await pinCluster(options.loadCpu);
  const results: Setup[] = [];
  try {
    for (const backend of ['postgres', 'redis'] as const) {
      if (backend === 'redis' && versionOf(['redis-server', '--version'], /v=(\S+)/) === undefined) {
        say('  redis-server is not installed: skipped');
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
    wanted: backend === 'postgres' ? 700 : 800,
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

function queueTable(setups: readonly Setup[], domains: number): string {
  return table(
    ['queue in', 'checks/s', 'CPU ms per check: worker', 'Postgres', 'Redis', 'packets per check'],
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
  ).concat(`\n\n${count(domains)} domains in each round.`);
}
