// Runs `domain import`: imports the records of a zone file or of Route 53 JSON into a domain, like `records/import` of the API.
// With `--directory`, imports one zone file into each of many domains.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Name } from '../../dns/name.ts';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { inOneGo } from '../../dns/zone-file/in-one-go.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { saveEdit } from '../../store/change/save-edit.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { ImportMerge } from '../../zone/import/merge-import.ts';
import { type ParsedRecords, parseRecords } from '../../zone/import/parse-records.ts';
import { readImport } from '../../zone/import/read-import.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { showWarnings, WarningList, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import type { BadDomainName, WantedDomain } from '../terminal/collect-domain-names.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError, findZoneFiles } from '../terminal/find-zone-files.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import type { Output } from '../terminal/output.ts';
import { printRefusal, type Refusal } from '../terminal/print-refusal.ts';
import { readStandardInputBytes } from '../terminal/read-standard-input.ts';
import { workOnDomains } from '../terminal/work-on-domains.ts';

export interface ImportOptions {
  readonly dots?: 'add';
  readonly dryRun?: true;
  /** Set if the records were transferred: added to the JSON, and lines of the text are not printed. */
  readonly transfer?: object;
}

/** Reads a file, or standard input for `-`. */
export async function readImportFile(file: string): Promise<string> {
  if (file === '-') return decodeText(await readStandardInputBytes());
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new Failure('file', `${file}: ${explainFileError(error)}`);
  }
}

type ImportOrder = ChangedBy & ImportOptions;

/** Returns the exit code. */
export async function importRecords(
  db: Database,
  domain: Pick<Domain, 'id' | 'name'>,
  text: string,
  order: ImportOrder,
  output: Output,
): Promise<number> {
  const came = await importText(db, domain, text, order);
  if (came.kind === 'refused') {
    await printRefusal(domain.name, came, output);
    return 1;
  }
  await printImport(domain.name, came, order, output);
  return hasErrors(came) ? 1 : 0;
}

/** Imports each file `NAME.zone` of a directory into the domain NAME. Returns the exit code. */
export async function importDirectory(
  db: Database,
  directory: string,
  { owner, signal, ...order }: ImportOrder & { readonly owner: Owner; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  const { files, problems } = findZoneFiles([directory]);
  for (const { path, message } of problems) throw new Failure('file', `${path}: ${message}`);
  const act = async ({ name, words: [file = ''] }: WantedDomain) => {
    const found = await findOneDomain(db, name, owner);
    if (found.kind === 'refused') return found;
    const came = await importText(db, found.domain, await readImportFile(file), order);
    if (came.kind === 'refused') return came;
    const { counts, report } = came;
    const lines = linesOf(report).map((line) => `  ${line}`);
    const members = { ...counts, ...report };
    return { kind: 'done', words: countsText(came), lines, members, isNo: hasErrors(came) } as const;
  };
  const outcome = order.dryRun ? 'would import' : 'imported';
  const domains = files.map(({ name: file }) => domainOf(file));
  return await workOnDomains({ domains, outcome, act, signal }, output);
}

function domainOf(file: string): WantedDomain | BadDomainName {
  const text = basename(file, '.zone');
  const parsed = parseDomainName(text);
  if (parsed.kind === 'problem') return { kind: 'bad', text, place: file, message: parsed.message };
  const { name, unicode } = parsed;
  return { kind: 'wanted', text, place: file, name, unicode, words: [file] };
}

interface Imported {
  readonly kind: 'imported';
  readonly counts: Readonly<Record<string, number>>;
  readonly report: Report;
}

async function importText(
  db: Database,
  { id, name: apex }: Pick<Domain, 'id' | 'name'>,
  text: string,
  { dots, dryRun, transfer, ...by }: ImportOrder,
): Promise<Imported | Refusal> {
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
    return { kind: 'refused', code: 'refused', message: reason ?? 'no records are left to import' };
  }
  const report = reportOf(parsed, merge, warningsOf(parsed.warnings, saved.warnings), apex);
  return {
    kind: 'imported',
    counts: countsOf(merge),
    report: transfer === undefined ? report : withoutLines(report),
  };
}

function hasErrors({ report }: Imported): boolean {
  return report.errors.length + report.failed.length > 0;
}

/** An item of a list, with the members that the JSON has. */
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

function withoutLines(report: Report): Report {
  const drop = ({ line: _line, column: _column, ...item }: ReportedItem) => item;
  const { errors, skipped, failed, warnings } = report;
  return {
    errors: errors.map(drop),
    skipped: skipped.map(drop),
    failed: failed.map(drop),
    warnings: warnings.map(drop),
  };
}

/**
 * Drops warnings about hosts missing in the file, because the domain may have them and the edit reports missing ones. Drops
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

async function printImport(
  apex: Name,
  came: Imported,
  { dryRun, transfer }: ImportOptions,
  output: Output,
): Promise<void> {
  const domain = printWithoutDot(apex);
  const outcome = dryRun ? 'would import' : 'imported';
  if (output.json) {
    await output.print(JSON.stringify({ domain, outcome, ...transfer, ...came.counts, ...came.report }));
    return;
  }
  for (const line of linesOf(came.report)) await output.complain(line);
  await output.print(`${outcome} into ${domain}: ${countsText(came)}`);
}

function countsText({ counts, report }: Imported): string {
  const lengths = Object.entries(report).map(([kind, { length }]) => [kind, length] as const);
  return [...Object.entries(counts), ...lengths].map(([what, count]) => `${what} ${count}`).join(' ');
}

function linesOf(report: Report): string[] {
  return Object.entries(report).flatMap(([kind, items]) => items.map((item) => lineOf(kind, item)));
}

const KINDS: Readonly<Record<string, string>> = { skipped: 'skipped: ', warnings: 'warning: ' };

function lineOf(kind: string, { line, column, name, type, message }: ReportedItem): string {
  const place =
    line === undefined ? '' : column === undefined ? `line ${line}: ` : `line ${line}, column ${column}: `;
  const record = name === undefined ? '' : `${name} ${type}: `;
  return `${place}${record}${KINDS[kind] ?? ''}${message}`;
}
