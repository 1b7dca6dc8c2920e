// Runs `domain import`: imports the records of a zone file, or of Route 53 JSON, into a domain, as `records/import` of the API
// does.

import { readFileSync } from 'node:fs';
import type { Name } from '../../dns/name.ts';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { inOneGo } from '../../dns/zone-file/in-one-go.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { saveEdit } from '../../store/change/save-edit.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { ImportMerge } from '../../zone/import/merge-import.ts';
import { type ParsedRecords, parseRecords } from '../../zone/import/parse-records.ts';
import { readImport } from '../../zone/import/read-import.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { showWarnings, WarningList, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import type { Output } from '../terminal/output.ts';
import { printRefusal } from '../terminal/print-refusal.ts';
import { readStandardInputBytes } from '../terminal/read-standard-input.ts';

export interface ImportOptions {
  readonly dots?: 'add';
  readonly dryRun?: true;
}

/** Reads a whole file, or standard input for `-`. */
export async function readImportFile(file: string): Promise<string> {
  if (file === '-') return decodeText(await readStandardInputBytes());
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new Failure('file', `${file}: ${explainFileError(error)}`);
  }
}

/** Returns the exit code. */
export async function importRecords(
  db: Database,
  { id, name: apex }: Pick<Domain, 'id' | 'name'>,
  text: string,
  { dots, dryRun, ...by }: ChangedBy & ImportOptions,
  output: Output,
): Promise<number> {
  const parsed = inOneGo(parseRecords(text, apex, { addDots: dots === 'add' }));
  const read = inOneGo(readImport(parsed.records, apex));
  let merge: ImportMerge | undefined;
  const saved = await saveEdit(db, {
    ...by,
    domainId: id,
    dryRun: dryRun === true,
    warns: true,
    async edit({ recordsAt }) {
      merge = new ImportMerge(read, await recordsAt([...new Set(read.named.map(({ name }) => name))]));
      return merge.edit;
    },
    without: (problems) => merge?.without(problems),
  });
  if (saved.kind === 'refused' || saved.kind === 'problems') {
    const reason = saved.kind === 'refused' ? saved.message : saved.problems[0]?.message;
    const message = reason ?? 'no record is left';
    await printRefusal(apex, { kind: 'refused', code: 'refused', message }, output);
    return 1;
  }
  const report = reportOf(parsed, merge, warningsOf(parsed.warnings, saved.warnings), apex);
  await printImport(apex, { counts: countsOf(merge), report, isDryRun: dryRun === true }, output);
  return report.errors.length + report.failed.length > 0 ? 1 : 0;
}

/** One item of a list, with the members that JSON shows. */
interface ReportedItem {
  readonly line?: number;
  readonly column?: number;
  readonly name?: string;
  readonly type?: string;
  readonly code?: string;
  readonly message: string;
}

type Report = Readonly<Record<'errors' | 'skipped' | 'failed' | 'warnings', readonly ReportedItem[]>>;

function reportOf(
  { records, errors, skipped }: ParsedRecords,
  merge: ImportMerge | undefined,
  warnings: readonly ZoneWarning[],
  apex: Name,
): Report {
  const failed = [...(merge?.failed ?? [])].sort(([a], [b]) => a - b);
  return {
    errors: errors.map(({ line, column, error }) => ({ line, column, message: error })),
    skipped: skipped.map(({ reason, ...record }) => ({ ...record, message: reason })),
    failed: failed.map(([index, message]) => {
      const { name, type } = records[index] as (typeof records)[number];
      return { name, type, message };
    }),
    warnings: showWarnings(warnings, apex),
  };
}

/**
 * Drops warnings of the file about missing hosts, because the domain may have these hosts: the edit reports those. Drops
 * conflicts, because the import lists them as failed.
 */
function warningsOf(ofFile: readonly ZoneWarning[], ofEdit: readonly ZoneWarning[]): readonly ZoneWarning[] {
  const all = new WarningList();
  for (const warning of ofFile) {
    if (warning.code === 'RECORD_CONFLICT') continue;
    if (warning.host === undefined || warning.code === 'MISSING_FINAL_DOT') all.add(warning);
  }
  for (const warning of ofEdit) all.add(warning);
  return all.list;
}

function countsOf(merge: ImportMerge | undefined): Readonly<Record<string, number>> {
  const { creates, updates, deletes } = merge?.edit ?? { creates: [], updates: [], deletes: [] };
  return { created: creates.length, overwritten: updates.length, removed: deletes.length };
}

interface Imported {
  readonly counts: Readonly<Record<string, number>>;
  readonly report: Report;
  readonly isDryRun: boolean;
}

async function printImport(
  apex: Name,
  { counts, report, isDryRun }: Imported,
  output: Output,
): Promise<void> {
  const domain = printWithoutDot(apex);
  const outcome = isDryRun ? 'would import' : 'imported';
  if (output.json) {
    await output.print(JSON.stringify({ domain, outcome, ...counts, ...report }));
    return;
  }
  for (const [kind, items] of Object.entries(report)) {
    for (const item of items) await output.complain(lineOf(kind, item));
  }
  const lengths = Object.entries(report).map(([kind, { length }]) => [kind, length] as const);
  const words = [...Object.entries(counts), ...lengths].map(([what, count]) => `${what} ${count}`);
  await output.print(`${outcome} into ${domain}: ${words.join(' ')}`);
}

const KINDS: Readonly<Record<string, string>> = { skipped: 'skipped: ', warnings: 'warning: ' };

function lineOf(kind: string, { line, column, name, type, message }: ReportedItem): string {
  const place =
    line === undefined ? '' : column === undefined ? `line ${line}: ` : `line ${line}, column ${column}: `;
  const record = name === undefined ? '' : `${name} ${type}: `;
  return `${place}${record}${KINDS[kind] ?? ''}${message}`;
}
