// One account has domains under silent parents, all due at the same time, while honest accounts create domains and request
// checks. Measures their waiting times, and the packets that the silent addresses receive.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseName } from '../../src/dns/name.ts';
import { JobQueue } from '../../src/jobs/job-queue.ts';
import { CHECK_DELEGATION } from '../../src/jobs/jobs.ts';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { createDomain } from '../../src/store/change/save-domain.ts';
import { waitForCheck } from '../../src/store/checks/check-runs.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import type { BenchOptions } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { domainDatabase, silentDomains } from './domain-set.ts';
import type { Parents } from './start-parents.ts';
import { startWorker } from './worker.ts';

const DOMAINS = 1500;
const ACCOUNTS = 20;
const SECONDS = 90;
const PAUSE_MS = 500;
/** Time limit of the bench for a requested check. */
const LONGEST_MS = 30_000;

export async function measureAttack(parents: Parents, options: BenchOptions): Promise<string> {
  const domains = Math.min(options.zones ?? DOMAINS, 100_000);
  const databaseUrl = await domainDatabase(silentDomains(domains));
  await runOn(
    databaseUrl,
    'delete from domains where account_id <> (select min(id) from accounts)',
    "update domains set status = 'pending', pending_since = now(), delegated_ns = null",
    `update domain_checks set due_at = now(), next_at = now(), conclusive_at = null, conclusive_ours = null,
       last_run_id = null, last_outcome = null, unknowns = 0`,
    'truncate check_shares, resolver_addresses, resolver_silences',
  );
  const before = await parents.packets();
  const db = openDatabase(databaseUrl, { maxConnections: 5 });
  const queue = new JobQueue({ databaseUrl, redisUrl: undefined }, CHECK_DELEGATION);
  const worker = await startWorker({ databaseUrl, redisUrl: undefined, parents }, options);
  try {
    const asked = await liveHonestly(db, queue);
    const after = await parents.packets();
    const packets = after.map((all, i) => all - (before[i] ?? 0));
    const first = await firstChecks(db);
    say(
      `  p99 until the first check ${fixed(percentile(first, 0.99), 2)} s, until the result of a requested check ${fixed(percentile(asked, 0.99), 2)} s`,
    );
    return [
      `${count(domains)} domains of one account under ${count(packets.length)} silent addresses, ${SECONDS} s, one workers process.`,
      table(
        ['honest accounts', 'number', 'p50, s', 'p99, s', 'wanted'],
        [
          row('from the creation to the start of the first check', first, 5),
          row('from the request of a check to its result', asked, 8),
        ],
      ),
      `Packets to one silent address: at most ${Math.max(...packets)} in ${SECONDS} s.`,
    ].join('\n\n');
  } finally {
    await worker.stop();
    await queue.close();
    await db.destroy();
  }
}

function row(what: string, seconds: readonly number[], wanted: number): string[] {
  const p99 = percentile(seconds, 0.99);
  return [
    what,
    count(seconds.length),
    fixed(percentile(seconds, 0.5), 2),
    fixed(p99, 2),
    `p99 ≤ ${wanted}: ${p99 <= wanted ? 'yes' : '**no**'}`,
  ];
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Creates a domain every half second, and requests its check. Returns the durations in seconds. */
async function liveHonestly(
  db: Database,
  queue: JobQueue<{ domainId: number; kind: 'manual' | 'background' | 'operator' }>,
): Promise<number[]> {
  const accounts: number[] = [];
  for (let i = 0; i < ACCOUNTS; i++) {
    const created = await createAccount(db, {
      email: `honest${i}-${randomUUID()}@nameservers.test`,
      isAdmin: false,
      planSlug: 'pro',
    });
    if (created.kind === 'created') accounts.push(created.account.id);
  }
  const asked: Promise<number>[] = [];
  const endMs = performance.now() + SECONDS * 1000;
  for (let i = 0; performance.now() < endMs; i++) {
    const name = `h${i}-${randomUUID().slice(0, 8)}.t01.`;
    const created = await createDomain(db, {
      by: { kind: 'system', name: 'bench' },
      source: 'test',
      accountId: accounts[i % accounts.length] as number,
      name: parseName(name),
      unicode: name.slice(0, -1),
      dnsMode: 'managed',
      exempt: false,
    });
    if (created.kind !== 'created') throw new Error(created.message);
    await pause(PAUSE_MS);
    asked.push(askFor(db, queue, created.domain.id));
  }
  return await Promise.all(asked);
}

async function askFor(
  db: Database,
  queue: JobQueue<{ domainId: number; kind: 'manual' | 'background' | 'operator' }>,
  domainId: number,
): Promise<number> {
  const request = randomUUID();
  const startedMs = performance.now();
  const job = { domainId, kind: 'manual', request, turn: 1 } as const;
  await queue.enqueueNow(job);
  const signal = new AbortController().signal;
  const run = await waitForCheck(db, request, { timeoutMs: LONGEST_MS, signal });
  if (run === undefined) return LONGEST_MS / 1000;
  return (performance.now() - startedMs) / 1000;
}

/** From the create to the beginning of the first check, in seconds. */
async function firstChecks(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('check_runs')
    .innerJoin('domains', 'domains.id', 'check_runs.domain_id')
    .where(
      'domains.account_id',
      '>',
      db.selectFrom('accounts').select((a) => a.fn.min('id').as('id')),
    )
    .select((r) => [
      'check_runs.domain_id',
      r.fn.min('check_runs.started_at').as('began'),
      r.fn.min('domains.created_at').as('created'),
    ])
    .groupBy('check_runs.domain_id')
    .execute();
  return rows.map(({ began, created }) =>
    Math.max(0, (new Date(began).getTime() - new Date(created).getTime()) / 1000),
  );
}
