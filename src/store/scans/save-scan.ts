// Saves the end of a scan, in one transaction: what it found, and what was imported. A worker that has lost the scan
// saves nothing, and saving it twice has the effect of once.

import { sql } from 'kysely';
import type { Scan } from '../../checks/scan/scan.ts';
import type { KeyNarrowing } from '../../zone/edit/key-narrowing.ts';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type ImportedScan, importScanned, type ScannedImport } from './import-scanned.ts';
import { decodeResult, encodeFound, encodeResult, type JsonResult } from './scan-row.ts';

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

/** How many scans of a domain are kept. */
const SCANS_KEPT = 20;

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
