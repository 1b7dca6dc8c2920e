// Reads and validates one zone file: its text, then the zone. `zone load` and `zone check` share this code, so that they accept
// the same files.

import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { type Name, printName, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { inOneGo } from '../../dns/zone-file/in-one-go.ts';
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts';
import type { ZoneFile, ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import { buildZone } from '../../zone/build-zone.ts';
import { isCsv, isJson } from '../../zone/import/foreign-forms.ts';
import { recordsOfZone } from '../../zone/records-of-zone.ts';
import type { SignedZoneDoubt } from '../../zone/verbatim/doubt-list.ts';
import { judgeSignedZone } from '../../zone/verbatim/judge-signed-zone.ts';
import { findWarnings } from '../../zone/warnings/find-warnings.ts';
import { TextInspector } from '../../zone/warnings/inspect-text.ts';
import { viewZone } from '../../zone/warnings/zone-view.ts';
import { joinWarnings, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import type { RecordSet, ZoneRecord } from '../../zone/zone.ts';
import type { ZoneProblem } from '../../zone/zone-problem.ts';
import { explainFileError, type ZoneFilePath } from '../terminal/find-zone-files.ts';
import { confineInclude } from './confine-include.ts';

/** A problem with a token of the file (`field`) or with the zone (`code`). */
export interface FileProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly field?: string;
  readonly code?: string;
  /** Owner and type of the record that a warning is about. */
  readonly name?: string;
  readonly type?: string;
  readonly message: string;
}

type JudgedFile =
  | {
      kind: 'good';
      file: ZoneFilePath;
      apex: Name;
      records: ZoneRecord[];
      soa: Place;
      /** RRSIG records that are omitted because the record set that they cover does not exist. */
      stray: readonly RecordSet[];
      warnings: FileProblem[];
    }
  | { kind: 'refused'; file: ZoneFilePath; apex: Name | undefined; problems: FileProblem[] };

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface JudgeOptions {
  readonly origin: Name | undefined;
  /** Time at which signatures are validated, in seconds since 1970. Undefined if they are already validated. */
  readonly at: number | undefined;
  /** Content of standard input. Undefined for a file, which is read here. */
  readonly content?: Uint8Array | undefined;
  /** True if the file may be for the root zone even if `origin` does not say so. */
  readonly mayBeRoot?: boolean;
}

/** A zone with more record sets is not verified completely, because that takes several seconds. */
export const MAX_VERIFIED_SETS = 20_000;

export function judgeZoneFile(
  file: ZoneFilePath,
  { origin, at, content, mayBeRoot }: JudgeOptions,
): JudgedFile {
  let parsed: ZoneFile;
  const inspector = new TextInspector();
  try {
    // invalid octets become U+FFFD, which the parser rejects outside comments
    const text = decodeText(
      file.path === undefined ? (content ?? new Uint8Array()) : readFileSync(file.path),
    );
    const format = isJson(text) ? 'JSON' : isCsv(text) ? 'CSV' : undefined;
    if (format !== undefined) {
      const message = `this is ${format}, not a zone file`;
      return { kind: 'refused', file, apex: undefined, problems: [{ file: file.name, message }] };
    }
    const include = confineInclude(file.path);
    parsed = parseZoneFile(text, { origin, include, onRecord: inspector.inspect });
  } catch (error) {
    if (typeof (error as { code?: unknown }).code !== 'string') throw error;
    const problem = { file: file.name, message: explainFileError(error) };
    return { kind: 'refused', file, apex: undefined, problems: [problem] };
  }
  const soa = parsed.records.find((record) => record.type === TYPE.SOA);
  // Without an SOA the parser takes the root as the apex, but such a file is not for the root.
  const isNamed = soa !== undefined || parsed.origin !== ROOT;
  const apex = origin ?? (isNamed ? parsed.origin : undefined);
  const problems = textProblems(file, parsed);
  if (apex === ROOT && origin === undefined && mayBeRoot !== true) {
    problems.unshift({ ...placeOf(file, soa), message: explainRoot(parsed) });
  }
  if (problems.length > 0) return { kind: 'refused', file, apex, problems };
  const built = buildZone(parsed.origin, parsed.records);
  if (built.kind === 'refused') {
    return { kind: 'refused', file, apex, problems: placeProblems(file, parsed, built.problems) };
  }
  const { zone, stray } = built;
  const doubts = at === undefined ? [] : judgeSignedZone(zone, { at, stray, maxVerified: MAX_VERIFIED_SETS });
  const view = viewZone(zone);
  const found = joinWarnings(inspector.finish(view), inOneGo(findWarnings(view, parsed.records)));
  const warnings = [
    ...placeProblems(file, parsed, doubts),
    ...[...leftOutWarnings(parsed), ...found].map(
      ({ owner, type, code, message, line = 1, column = 1, file: included }) => {
        const place = placeOf(file, { file: included, line, column });
        return { ...place, name: printName(owner), type, code, message };
      },
    ),
  ];
  return {
    kind: 'good',
    file,
    apex: zone.apex,
    records: [...recordsOfZone(zone)],
    soa: placeOf(file, soa),
    stray,
    warnings,
  };
}

function explainRoot({ rootOriginLine: line }: ZoneFile): string {
  const cause = line === undefined ? '' : ` because of $ORIGIN . in line ${line}`;
  return `this is a zone for the root (.)${cause}; if that is intended, pass --origin .`;
}

function leftOutWarnings({ leftOut }: ZoneFile): ZoneWarning[] {
  return leftOut.map(({ reason, ...record }) => {
    return {
      ...record,
      code: 'RECORD_NOT_LOADED',
      message: `the ${record.type} record is not loaded: ${reason}`,
    };
  });
}

function textProblems(file: ZoneFilePath, { problems }: ZoneFile): FileProblem[] {
  return problems.map(({ file: included, line, column, field, message }) => {
    const place = placeOf(file, { file: included, line, column });
    return { ...place, ...(field === undefined ? {} : { field }), message };
  });
}

/** Returns the position with a path relative to the operator's; a path from $INCLUDE starts at the zone file's folder. */
function placeOf(
  file: ZoneFilePath,
  at: { file?: string | undefined; line: number; column: number } | undefined,
): Place {
  if (at === undefined) return { file: file.name, line: 1, column: 1 };
  const { file: included, line, column } = at;
  const name = included === undefined ? file.name : besideFile(file.name, included);
  return { file: name, line, column };
}

/** Prints a warning, which does not keep the file from loading. */
export function printWarning(warning: FileProblem): string {
  return printProblem({ ...warning, message: `warning: ${warning.message}` });
}

/** Prints `file:line:column: field: message`, as compilers do and editors parse. */
export function printProblem(problem: FileProblem): string {
  const place = problem.line === undefined ? '' : `:${problem.line}:${problem.column ?? 1}`;
  const field = problem.field === undefined ? '' : `${problem.field}: `;
  return `${problem.file}${place}: ${field}${problem.message}`;
}

function besideFile(file: string, included: string): string {
  return isAbsolute(included) ? included : join(dirname(file), included);
}

/** Places zone problems at the first record that they concern, or at the start of the file if the record is missing. */
function placeProblems(
  file: ZoneFilePath,
  parsed: ZoneFile,
  problems: readonly (ZoneProblem | SignedZoneDoubt)[],
): FileProblem[] {
  const places = new Map<Name, Map<number, ZoneFileRecord>>();
  for (const { owner } of problems) if (owner !== undefined) places.set(owner, new Map());
  for (const record of parsed.records) {
    const ofOwner = places.get(record.owner);
    if (ofOwner !== undefined && !ofOwner.has(record.type)) ofOwner.set(record.type, record);
  }
  return problems.map(({ owner, type, message, code }) => {
    const ofOwner = owner === undefined ? undefined : places.get(owner);
    const record = type === undefined ? ofOwner?.values().next().value : ofOwner?.get(type);
    if (owner === undefined) return { file: file.name, code, message };
    return { ...placeOf(file, record), code, message };
  });
}
