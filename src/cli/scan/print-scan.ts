// Prints the result of a scan and of its import, as text or as JSON. Zone owners control the contents of records: their text is
// escaped as in a zone file, so that it cannot control the terminal.

import type { PlannedImport } from '../../checks/scan/plan-import.ts';
import type { Scan } from '../../checks/scan/scan.ts';
import type { Name } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import type { ImportedScan } from '../../store/scans/import-scanned.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { printRecordName } from '../../zone/records/record-name.ts';
import { printSpan } from '../terminal/print-span.ts';
import { printTable } from '../terminal/print-table.ts';

export interface FoundRecords {
  readonly scan: Scan;
  readonly plan: PlannedImport;
}

export function printScan({ scan, plan }: FoundRecords): string {
  const { domain, complete, names, queries, startedAt, finishedAt } = scan;
  const at = (name: Name) => printRecordName(name, domain);
  const span = printSpan((finishedAt - startedAt) / 1000);
  const head = [
    `${printWithoutDot(domain)}  ${complete ? 'complete' : 'not complete'}, ${plan.records.length} records (${names} names, ${queries} packets, ${span})`,
    ...shortfallsOf(scan).map((shortfall) => `  ${shortfall}`),
  ];
  const blocks = [head.join('\n')];
  if (plan.records.length > 0) {
    const rows = plan.records.map(({ name, type, ttl, rdata, cdn }) => [
      at(name),
      typeMnemonic(type),
      ttl,
      cdn ?? '-',
      printRdata(type, rdata),
    ]);
    blocks.push(printTable(['NAME', 'TYPE', 'TTL', 'CDN', 'RDATA'], rows));
  }
  if (scan.wildcards.length > 0)
    blocks.push(`Names with a wildcard below: ${scan.wildcards.map((name) => at(name)).join(', ')}`);
  if (plan.left.length > 0) {
    const rows = plan.left.map(({ name, type, reason }) => [at(name), typeMnemonic(type), reason]);
    blocks.push(`Left out\n${printTable(['NAME', 'TYPE', 'WHY'], rows)}`);
  }
  return blocks.join('\n\n');
}

export function importLines(imported: ImportedScan, apex: Name): string[] {
  if (imported.kind === 'refused') return [`nothing imported: ${imported.message}`];
  const { created, failed, present, changeId } = imported;
  const change = changeId === undefined ? '' : ` change ${changeId}`;
  const summary = `created ${created} failed ${failed.length} skipped ${present}${change}`;
  if (failed.length === 0) return [summary];
  const rows = failed.map(({ name, type, error }) => [printRecordName(name, apex), type, error]);
  return [`Failed\n${printTable(['NAME', 'TYPE', 'WHY'], rows)}`, summary];
}

export function scanJson({ scan, plan }: FoundRecords): object {
  const { domain, complete, names, queries, startedAt, finishedAt, wildcards } = scan;
  const at = (name: Name) => printRecordName(name, domain);
  return {
    domain: printWithoutDot(domain),
    complete,
    shortfalls: shortfallsOf(scan),
    names,
    queries,
    seconds: (finishedAt - startedAt) / 1000,
    records: plan.records.map(({ name, type, ttl, rdata, cdn, note }) => {
      const { destination, mxPriority } = printDestination(typeMnemonic(type) as ApiType, rdata);
      return {
        name: at(name),
        type: typeMnemonic(type),
        ttl,
        destination,
        mx_priority: mxPriority,
        cdn,
        note,
      };
    }),
    wildcards: wildcards.map(at),
    left_out: plan.left.map(({ name, type, reason }) => ({
      name: at(name),
      type: typeMnemonic(type),
      reason,
    })),
  };
}

export function importJson(imported: ImportedScan, apex: Name): object {
  if (imported.kind === 'refused')
    return { outcome: 'refused', code: imported.code, message: imported.message };
  const { created, failed, present, changeId } = imported;
  return {
    outcome: 'imported',
    created,
    failed: failed.map(({ name, ...rest }) => ({ name: printRecordName(name, apex), ...rest })),
    skipped: present,
    change_id: changeId ?? null,
  };
}

function shortfallsOf({ failure, shortfalls }: Scan): readonly string[] {
  return failure === undefined ? shortfalls : [failure.message, ...shortfalls];
}
