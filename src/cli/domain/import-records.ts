// `domain import`: the records of a zone file, or of Route 53's JSON, become those of a domain, as `records/import` of the API
// does it.

import { readFileSync } from 'node:fs';
import type { Name } from '../../dns/name.ts';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { inOneGo } from '../../dns/zone-file/in-one-go.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { saveEdit } from '../../store/change/save-edit.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { ImportMerge } from '../../zone/import/merge-import.ts';
import { parseRecords } from '../../zone/import/parse-records.ts';
import { readImport } from '../../zone/import/read-import.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { printRecordName } from '../../zone/records/record-name.ts';
import type { ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import type { Output } from '../terminal/output.ts';
import { printRefusal } from '../terminal/print-refusal.ts';
import { readStandardInputBytes } from '../terminal/read-standard-input.ts';

export interface ImportOptions {
  readonly dots?: 'add';
  readonly dryRun?: true;
}

/** All of a file; `-` is standard input. */
export async function readImportFile(file: string): Promise<string> {
  if (file === '-') return decodeText(await readStandardInputBytes());
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new Failure('file', `${file}: ${explainFileError(error)}`);
  }
}

/** Gives the exit code. */
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
    const message = saved.kind === 'refused' ? saved.message : saved.problems[0]?.message;
    await printRefusal(
      apex,
      { kind: 'refused', code: 'refused', message: message ?? 'no record is left' },
      output,
    );
    return 1;
  }
  const { creates, updates, deletes } = merge?.edit ?? { creates: [], updates: [], deletes: [] };
  const failed = [...(merge?.failed ?? [])].sort(([a], [b]) => a - b);
  const counts = { created: creates.length, overwritten: updates.length, removed: deletes.length };
  const told = {
    errors: parsed.errors.map(({ line, column, error }) => ({ line, column, message: error })),
    skipped: parsed.skipped.map(({ reason, ...record }) => ({ ...record, message: reason })),
    failed: failed.map(([index, message]) => {
      const { name, type } = parsed.records[index] as (typeof parsed.records)[number];
      return { name, type, message };
    }),
    warnings: warningsOf(parsed.warnings, saved.warnings, apex),
  };
  const domain = printWithoutDot(apex);
  if (output.json) {
    await output.print(
      JSON.stringify({ domain, outcome: dryRun ? 'would import' : 'imported', ...counts, ...told }),
    );
  } else {
    for (const [kind, items] of Object.entries(told))
      for (const item of items) await output.complain(lineOf(kind, item));
    const lists = Object.entries(told).map(([kind, { length }]) => [kind, length]);
    const words = [...Object.entries(counts), ...lists].map(([what, count]) => `${what} ${count}`);
    await output.print(`${dryRun ? 'would import into' : 'imported into'} ${domain}: ${words.join(' ')}`);
  }
  return parsed.errors.length + failed.length > 0 ? 1 : 0;
}

interface Told {
  readonly line?: number | undefined;
  readonly column?: number;
  readonly name?: string;
  readonly type?: string;
  readonly message: string;
}

const KINDS: Readonly<Record<string, string>> = { skipped: 'skipped: ', warnings: 'warning: ' };

function lineOf(kind: string, { line, column, name, type, message }: Told): string {
  const place =
    line === undefined ? '' : column === undefined ? `line ${line}: ` : `line ${line}, column ${column}: `;
  const record = name === undefined ? '' : `${name} ${type}: `;
  return `${place}${record}${KINDS[kind] ?? ''}${message}`;
}

/** What the file said of hosts may be wrong: the domain has other records too. */
function warningsOf(ofFile: readonly ZoneWarning[], ofDomain: readonly ZoneWarning[], apex: Name) {
  const isOfText = ({ code, host }: ZoneWarning) => host === undefined || code === 'MISSING_FINAL_DOT';
  const all = [...ofFile.filter(isOfText), ...ofDomain];
  const once = new Map(
    all.reverse().map((warning) => [`${warning.code} ${warning.owner} ${warning.message}`, warning]),
  );
  return [...once.values()].reverse().map(({ line, owner, type, code, message }) => {
    return { ...(line !== undefined && { line }), name: printRecordName(owner, apex), type, code, message };
  });
}
