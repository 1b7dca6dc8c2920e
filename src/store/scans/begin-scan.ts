// Begins and keeps a worker's scan: a worker owns a scan while it renews the lease.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { ScanKind } from '../postgres/tables/schema.ts';

export type BegunScan =
  | {
      readonly kind: 'begun';
      /** Identifies the worker that owns the scan. */
      readonly run: string;
      readonly scan: ScanKind;
      readonly domain: Name;
    }
  | {
      readonly kind: /** Over, or gone with its domain. */
        | 'absent'
        /** Another worker owns the scan. */
        | 'held'
        /** The scan was given up after several workers ended during it; it is over now. */
        | 'spent'
        /** The domain takes no records any more; the scan is over now. */
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
    await endEmpty(db, run, 'the domain takes no records any more');
    return { kind: 'idle' };
  }
  if (row.attempts > MOST_ATTEMPTS) {
    await endEmpty(db, run, `it was begun ${MOST_ATTEMPTS} times and never came to its end`);
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

/** The progress of a scan. */
export interface ScanSteps {
  /** How many names are done, and how many are known so far. */
  readonly names: number;
  readonly of: number;
  readonly queries: number;
  readonly records: number;
}

/** Renews the worker's lease. False: another worker owns the scan by now. */
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

/**
 * Gives a scan back that the worker cannot go on with. `isInnocent`: the scan is not the cause, so any other worker may
 * begin it at once.
 */
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
