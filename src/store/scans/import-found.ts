// Imports once more what a scan found lately. A repeat of the call, known by its request, finds what it did in the scan's
// row.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type ImportedScan, importScanned, type ScannedImport } from './import-scanned.ts';
import { encodeResult } from './scan-row.ts';

export async function importFound(
  db: Database,
  scanId: number,
  order: ScannedImport,
  request: string | undefined,
): Promise<ImportedScan> {
  return await inTransaction(db, async (trx) => {
    const imported = await importScanned(trx, order);
    if (request === undefined || imported.kind === 'refused') return imported;
    await sql`
      update scans set request = ${request}::uuid, kind = 'manual', imports = true, actor = ${JSON.stringify(order.by)},
        result = ${JSON.stringify(encodeResult(imported))}, change_id = ${imported.changeId ?? null}
      where id = ${scanId}`.execute(trx);
    return imported;
  });
}
