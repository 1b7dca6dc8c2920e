// Loads a scan for the caller who requested it, while it runs and afterwards, and saves its result.

import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Scan } from '../../checks/scan/scan.ts';
import type { KeyNarrowing } from '../../zone/edit/key-narrowing.ts';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import type { ScanKind } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { ScanSteps } from './begin-scan.ts';
import {
  decodeFound,
  decodeResult,
  encodeFound,
  encodeResult,
  type FoundByScan,
  type ImportedScan,
  importScanned,
  type JsonFound,
  type JsonResult,
  type ScannedImport,
} from './import-scanned.ts';

export interface SavedScan {
  readonly id: number;
  readonly domainId: number;
  readonly kind: ScanKind;
  readonly imports: boolean;
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  /** Null while the scan waits or runs. */
  readonly finishedAt: Date | null;
  readonly progress: ScanSteps | null;
  /** Set when the scan ends, like all fields below. */
  readonly complete: boolean | null;
  readonly shortfalls: readonly string[];
  readonly names: number;
  readonly queries: number;
  /** Null if no server could be queried. */
  readonly found: FoundByScan | null;
  /** Null if nothing was to be imported. */
  readonly result: ImportedScan | null;
}

interface ScanRow extends Omit<SavedScan, 'found' | 'result'> {
  readonly found: JsonFound | null;
  readonly result: JsonResult | null;
  readonly changeId: number | null;
}

async function loadScan(db: Database, id: number): Promise<SavedScan | undefined> {
  return await loadOne(db, sql`s.id = ${id}`);
}

/** Returns the newest scan with a result, if it is recent, no other scan is running, and none was made for this request. */
export async function findRecentScan(
  db: Database,
  domainId: number,
  maxAgeSeconds: number,
  request: string | null = null,
): Promise<SavedScan | undefined> {
  return await loadOne(
    db,
    sql`s.domain_id = ${domainId} and s.found is not null
      and s.finished_at > clock_timestamp() - make_interval(secs => ${maxAgeSeconds})
      and not exists (select from scans o
        where o.domain_id = ${domainId} and (o.finished_at is null or o.request = ${request}::uuid))
      order by s.id desc limit 1`,
  );
}

/** Returns the scan that a worker has now. */
export async function findRunningScan(db: Database, domainId: number): Promise<SavedScan | undefined> {
  return await loadOne(
    db,
    sql`s.domain_id = ${domainId} and s.finished_at is null and s.started_at is not null and s.run is not null
      and s.due_at > clock_timestamp()`,
  );
}

async function loadOne(db: Database, where: RawBuilder<unknown>): Promise<SavedScan | undefined> {
  const { rows } = await sql<ScanRow>`
    select s.id, s.domain_id as "domainId", s.kind, s.imports, s.requested_at as "requestedAt",
      s.started_at as "startedAt", s.finished_at as "finishedAt", s.progress, s.complete, s.shortfalls, s.names,
      s.queries, s.found, s.result, s.change_id as "changeId"
    from scans s where ${where}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { changeId, found, result, ...rest } = row;
  return {
    ...rest,
    found: found === null ? null : decodeFound(found),
    result: result === null ? null : decodeResult(result, changeId),
  };
}

const INTERVAL_MS = 100;
const SLOW_INTERVAL_MS = 400;
const SLOW_AFTER_MS = 3000;

/**
 * Returns the scan when it has ended, or after the timeout or an abort by `signal`. Returns undefined if it was deleted
 * with its domain.
 */
export async function waitForScan(
  db: Database,
  id: number,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SavedScan | undefined> {
  const begun = performance.now();
  for (;;) {
    const passedMs = performance.now() - begun;
    const { rows } = await sql<{ isOver: boolean }>`
      select finished_at is not null as "isOver" from scans where id = ${id}`.execute(db);
    if (rows[0]?.isOver !== false || passedMs >= timeoutMs || signal.aborted) return await loadScan(db, id);
    const intervalMs = passedMs < SLOW_AFTER_MS ? INTERVAL_MS : SLOW_INTERVAL_MS;
    await pause(Math.min(intervalMs, timeoutMs - passedMs), undefined, { signal }).catch(() => {});
  }
}

interface ScanSave {
  readonly scanId: number;
  readonly run: string;
  readonly scan: Scan;
  /** The records that a domain can have. */
  readonly records: ScannedImport['records'];
  readonly countryOf?: ScannedImport['countryOf'];
}

type SavedScanEnd =
  | { readonly kind: 'saved'; readonly imported: ImportedScan | undefined }
  /** Another worker owns the scan, or it was deleted with its domain. */
  | { readonly kind: 'lost' };

interface EndingRow {
  readonly domainId: number;
  readonly imports: boolean;
  readonly actor: Actor;
  readonly narrowing: KeyNarrowing | null;
  readonly isOver: boolean;
  readonly result: JsonResult | null;
  readonly changeId: number | null;
}

const SCANS_KEPT = 20;

/**
 * Saves the results of the scan and of the import in one transaction. A worker that has lost the scan saves nothing,
 * and saving twice has no further effect.
 */
export async function saveScan(db: Database, save: ScanSave): Promise<SavedScanEnd> {
  return await inTransaction<SavedScanEnd>(db, async (trx) => {
    const { rows } = await sql<EndingRow>`
      select domain_id as "domainId", imports, actor, narrowing, finished_at is not null as "isOver", result,
        change_id as "changeId"
      from scans where id = ${save.scanId} and run = ${save.run}::uuid for update`.execute(trx);
    const [row] = rows;
    if (row === undefined) return { kind: 'lost' };
    if (row.isOver) {
      return { kind: 'saved', imported: row.result ? decodeResult(row.result, row.changeId) : undefined };
    }
    const { domainId, imports, actor: by, narrowing } = row;
    const { records, countryOf } = save;
    const isImported = imports && records.length > 0;
    const imported = isImported
      ? await importScanned(trx, { domainId, records, by, narrowing, countryOf })
      : undefined;
    await end(trx, save, imported);
    await purge(trx, domainId);
    return { kind: 'saved', imported };
  });
}

async function end(trx: Database, { scanId, scan }: ScanSave, imported: ImportedScan | undefined) {
  const { failure, complete, names, queries } = scan;
  const isLearnt = failure === undefined || scan.records.length > 0;
  const shortfalls = [...(failure === undefined ? [] : [failure.message]), ...scan.shortfalls];
  const changeId = imported?.kind === 'imported' ? imported.changeId : undefined;
  await sql`
    update scans set finished_at = clock_timestamp(), due_at = null, complete = ${complete},
      shortfalls = ${JSON.stringify(shortfalls)}, names = ${names}, queries = ${queries},
      found = ${isLearnt ? JSON.stringify(encodeFound(scan)) : null},
      result = ${imported === undefined ? null : JSON.stringify(encodeResult(imported))},
      change_id = ${changeId ?? null}
    where id = ${scanId}`.execute(trx);
}

async function purge(trx: Database, domainId: number): Promise<void> {
  await sql`
    delete from scans where domain_id = ${domainId} and finished_at is not null and id <= (
      select id from scans where domain_id = ${domainId} order by id desc offset ${SCANS_KEPT} limit 1)`.execute(
    trx,
  );
}
