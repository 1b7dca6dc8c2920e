// Claims and starts scans. A worker owns a scan while it renews the lease.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { MOST_SCANS, scanTurn } from '../../checks/shares/turns.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { ScanKind } from '../postgres/tables/schema.ts';

/** Longer than a job waits in a full queue. A started scan has the shorter LEASE_SECONDS. */
const QUEUE_LEASE_SECONDS = 300;

/**
 * Claims due scans: those of new domains, and those whose job or worker was lost. Accounts take turns, so that an
 * account with ten thousand domains does not delay the others. A claim takes a scan from its worker and extends its
 * time by a lease, so that a lost scan becomes due again. Reads along the index (account_id, due_at): accounts with due
 * scans, the number of running scans of each, and the first due ones of each; accounts with the fewest running scans
 * come first. Rows are locked at the end, because a query with window functions cannot lock. The limit per account is
 * hidden from the planner: if it expects an account to have few due rows, it reads and sorts all of them.
 */
export async function claimDueScans(
  db: Database,
  limit: number,
): Promise<{ scanId: number; turn: number }[]> {
  const { rows } = await sql<{ scanId: number; inHand: number }>`
    with recursive owners as (
      (select account_id as id from scans where due_at is not null order by account_id limit 1)
      union all
      select (select s.account_id from scans s where s.due_at is not null and s.account_id > a.id
        order by s.account_id limit 1)
      from owners a where a.id is not null),
    first_due as materialized (
      select due.id, (in_hand.number + due.turn)::integer as in_hand from owners a
      cross join lateral (
        select count(*) as number from scans s where s.account_id = a.id and s.due_at > now()) in_hand
      cross join lateral (
        select s.id, s.due_at, row_number() over (order by s.due_at) as turn
        from scans s where s.account_id = a.id and s.due_at <= now()
        order by s.due_at limit (select ${limit}::bigint)) due
      order by in_hand.number + due.turn, due.due_at limit ${limit})
    update scans s set run = null, due_at = clock_timestamp() + make_interval(secs => ${QUEUE_LEASE_SECONDS})
    from first_due f
    where s.id = f.id and s.id = any(array(
      select id from scans where id = any(array(select id from first_due)) and due_at <= now()
      for update skip locked))
    returning s.id as "scanId", f.in_hand as "inHand"`.execute(db);
  return rows.map(({ scanId, inHand }) => ({ scanId, turn: scanTurn({ inHand, isAsked: false }) }));
}

/** Counts the waiting and running scans of the account, up to a thousand. */
export async function countScansInHand(db: Database, accountId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from scans where account_id = ${accountId} and due_at is not null limit ${MOST_SCANS}) s`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

export type BegunScan =
  | {
      readonly kind: 'begun';
      /** Identifies the worker that owns the scan. */
      readonly run: string;
      readonly scan: ScanKind;
      readonly domain: Name;
    }
  | {
      readonly kind: /** Finished, or deleted with its domain. */
        | 'absent'
        /** Another worker owns the scan. */
        | 'held'
        /** The scan was ended because several workers failed during it. */
        | 'spent'
        /** The domain no longer accepts records, so the scan was ended. */
        | 'idle';
    };

/** A worker that does not renew its lease for this long has lost its scan. */
const LEASE_SECONDS = 20;
const MOST_ATTEMPTS = 3;

export async function beginScan(db: Database, scanId: number): Promise<BegunScan> {
  const run = randomUUID();
  const { rows } = await sql<BegunRow>`
    update scans s set run = ${run}, attempts = s.attempts + 1, started_at = coalesce(s.started_at, clock_timestamp()),
      due_at = ${LEASE_END}
    from domains d
    where s.id = ${scanId} and d.id = s.domain_id and s.finished_at is null
      and (s.run is null or s.due_at <= clock_timestamp())
    returning s.kind as scan, s.attempts, d.name,
      d.deleted_at is not null or s.imports and d.status in ('disabled', 'banned') as "isIdle"`.execute(db);
  const [row] = rows;
  if (row === undefined) return { kind: (await isOpen(db, scanId)) ? 'held' : 'absent' };
  if (row.isIdle) {
    await endEmpty(db, run, 'the domain no longer accepts records');
    return { kind: 'idle' };
  }
  if (row.attempts > MOST_ATTEMPTS) {
    await endEmpty(db, run, `it was started ${MOST_ATTEMPTS} times and never finished`);
    return { kind: 'spent' };
  }
  return { kind: 'begun', run, scan: row.scan, domain: decodeNameColumn(row.name) };
}

interface BegunRow {
  readonly scan: ScanKind;
  readonly attempts: number;
  readonly name: string;
  readonly isIdle: boolean;
}

const LEASE_END = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

async function isOpen(db: Database, scanId: number): Promise<boolean> {
  const { rows } = await sql`select from scans where id = ${scanId} and finished_at is null`.execute(db);
  return rows.length > 0;
}

async function endEmpty(db: Database, run: string, shortfall: string): Promise<void> {
  await sql`
    update scans set finished_at = clock_timestamp(), due_at = null, complete = false,
      shortfalls = ${JSON.stringify([shortfall])}
    where run = ${run}::uuid and finished_at is null`.execute(db);
}

export interface ScanSteps {
  /** Number of finished names, and of known names. */
  readonly names: number;
  readonly of: number;
  readonly queries: number;
  readonly records: number;
}

/** Renews the worker's lease. Returns false if another worker owns the scan now. */
export async function keepScan(
  db: Database,
  scanId: number,
  run: string,
  progress: ScanSteps | undefined,
): Promise<boolean> {
  const { rows } = await sql`
    update scans set due_at = ${LEASE_END},
      progress = coalesce(${progress === undefined ? null : JSON.stringify(progress)}::jsonb, progress)
    where id = ${scanId} and run = ${run}::uuid and finished_at is null returning id`.execute(db);
  return rows.length > 0;
}

/** Releases a scan that the worker cannot continue. With `isInnocent`, the attempt does not count. */
export async function giveBackScan(
  db: Database,
  scanId: number,
  run: string,
  { isInnocent }: { readonly isInnocent: boolean },
): Promise<void> {
  await sql`
    update scans set run = null, due_at = clock_timestamp() + interval '5 seconds',
      attempts = attempts - ${isInnocent ? 1 : 0}
    where id = ${scanId} and run = ${run}::uuid and finished_at is null`.execute(db);
}
