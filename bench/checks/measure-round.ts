// Time for all domains from due to saved, measured in Postgres from the first claim to the last row.

import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import type { Program } from '../program.ts';
import type { Worker } from './worker.ts';

const LONGEST_MS = 300_000;
const POLL_MS = 20;
/** Interval of polls after the first claim. A poll costs Postgres a few milliseconds. */
const LATER_POLL_MS = 200;
/** Duration of a claim. A saved check is due much later. */
const LEASE_SECONDS = 120;

export interface Checked {
  readonly databaseUrl: string;
  readonly worker: Worker;
  readonly redis: Program | undefined;
}

export interface Round {
  readonly seconds: number;
  /** Milliseconds of a core for each check. */
  readonly worker: number;
  readonly postgres: number;
  readonly redis: number;
  readonly packets: number;
}

/** Makes all domains of the database due. */
export async function measureRound({ databaseUrl, worker, redis }: Checked, domains: number): Promise<Round> {
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
