// Prints a scan: the result that an import would have, given the current records and settings of the domain.

import type { z } from 'zod';
import { type PlannedImport, planImport } from '../../checks/scan/plan-import.ts';
import type { Name } from '../../dns/name.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { FailedRecord } from '../../store/scans/import-scanned.ts';
import type { SavedScan } from '../../store/scans/saved-scans.ts';
import { setKey } from '../../zone/records/customer-record.ts';
import { type ApiType, RECORD_TYPE_CODES } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { printRecordName } from '../../zone/records/record-name.ts';
import { moments } from '../schemas/fields.ts';
import type { ScanImported, ScanPreview } from '../schemas/records/scan.ts';

const NOTHING: PlannedImport = { records: [], left: [] };
const RUNNING = 'the scan is still running';

export async function planFound(db: Database, { found }: SavedScan, apex: Name): Promise<PlannedImport> {
  if (found === null) return NOTHING;
  const { edges } = await loadPublishSettings(db);
  return planImport(found, { apex, edges, types: RECORD_TYPE_CODES });
}

/** Returns the members that every response about a scan has. */
export function printScan(
  scan: SavedScan,
  { left }: PlannedImport,
  apex: Name,
): Omit<z.input<typeof ScanImported>, 'created' | 'failed' | 'skipped' | 'records'> {
  const { startedAt, finishedAt, progress, shortfalls, names, queries } = scan;
  const isOver = finishedAt !== null;
  return {
    complete: isOver && scan.complete === true,
    shortfalls: isOver ? [...shortfalls] : [RUNNING],
    ...moments({ started_at: startedAt, finished_at: finishedAt }),
    ...(!isOver && progress !== null && { progress }),
    names: progress !== null && !isOver ? progress.names : names,
    queries: progress !== null && !isOver ? progress.queries : queries,
    left_out: left.map(({ name, type, reason }) => ({
      name: printRecordName(name, apex),
      type: typeMnemonic(type),
      reason,
    })),
  };
}

/** `present` contains the keys of the record sets that the domain has. */
export function printPreview(
  scan: SavedScan,
  planned: PlannedImport,
  { apex, present }: { readonly apex: Name; readonly present: ReadonlySet<string> },
): z.input<typeof ScanPreview> {
  const { found, result } = scan;
  return {
    ...printScan(scan, planned, apex),
    records: planned.records.map(({ name, type: code, ttl, rdata, cdn, note }) => {
      const type = typeMnemonic(code) as ApiType;
      const { destination, mxPriority } = printDestination(type, rdata);
      return {
        name: printRecordName(name, apex),
        type,
        destination,
        ...(mxPriority !== undefined && { mx_priority: mxPriority }),
        ttl,
        skipped: present.has(setKey(name, type)),
        ...(cdn !== undefined && { cdn }),
        ...(note !== undefined && { note }),
      };
    }),
    wildcards: (found?.wildcards ?? []).map((name) => printRecordName(name, apex)),
    ...(result !== null && {
      imported:
        result.kind === 'refused'
          ? { created: 0, skipped: 0, failed: [], error: result.message }
          : {
              created: result.created,
              skipped: result.present,
              failed: printFailed(result.failed, apex),
            },
    }),
  };
}

export function printFailed(
  failed: readonly FailedRecord[],
  apex: Name,
): { name: string; type: string; error: string }[] {
  return failed.map(({ name, type, error }) => ({ name: printRecordName(name, apex), type, error }));
}
