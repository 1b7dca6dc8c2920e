// Reads a zone file, from other software or from an export, into the records of a domain in the form of the API. Every
// line is read separately: bad lines are errors, and records that a customer cannot have are skipped.

import { isWithin, type Name, printName } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import type { LineByLine, ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import type { RecordText } from '../edit/parse-edit.ts';
import {
  ANAME_CODE,
  type ApiType,
  DEFAULT_TTL_SECONDS,
  isAddressLike,
  isApiType,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from '../records/customer-types.ts';
import { parseDestination, printDestination } from '../records/destination.ts';
import { rdataKey } from '../records/rdata-key.ts';
import { parseRecordName, printRecordName } from '../records/record-name.ts';
import { findWarnings } from '../warnings/find-warnings.ts';
import { TextInspector } from '../warnings/inspect-text.ts';
import { type JudgedRecord, ZoneIndex } from '../warnings/zone-view.ts';
import { joinWarnings, type ZoneWarning } from '../warnings/zone-warning.ts';
import { type FileRecord, findFileConflicts } from './file-conflicts.ts';
import { readFile } from './read-file.ts';
import { type ParsedComment, parseSettingsComment } from './settings-comment.ts';

interface LineError {
  readonly line: number;
  readonly column: number;
  readonly error: string;
}

/** A valid record that is not imported. */
interface SkippedRecord {
  readonly line: number;
  readonly name: string;
  readonly type: string;
  readonly reason: string;
}

export interface ParsedRecords {
  readonly records: RecordText[];
  readonly errors: LineError[];
  readonly skipped: SkippedRecord[];
  readonly warnings: ZoneWarning[];
}

/** A signed zone has four records for each one that is imported. */
const MAX_RECORDS = 500_000;
const MAX_ERRORS = 10_000;
const PIECE_RECORDS = 1000;
const SOA_IS_MADE = 'the service creates the SOA';

const LINES: LineByLine = {
  maxProblems: MAX_ERRORS,
  maxRecords: MAX_RECORDS,
  ttlSeconds: DEFAULT_TTL_SECONDS,
  nameTypes: new Map([
    ['ANAME', ANAME_CODE],
    ['ALIAS', ANAME_CODE],
  ]),
};

const DNSSEC_TYPES: ReadonlySet<number> = new Set([
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.NSEC3PARAM,
  TYPE.DNSKEY,
  TYPE.CDS,
  TYPE.CDNSKEY,
]);

/**
 * Names and hosts without a final dot are relative to the domain until an $ORIGIN changes that. Yields between pieces
 * of a long file, so that the caller can do other work.
 */
export function* parseRecords(
  text: string,
  apex: Name,
  { addDots }: { readonly addDots?: boolean } = {},
): Generator<undefined, ParsedRecords> {
  const inspector = new TextInspector();
  const file = yield* readFile(text, apex, { lineByLine: LINES, addDots, onRecord: inspector.inspect });
  const errors: LineError[] = file.problems.map(({ line, column, message }) => ({
    line,
    column,
    error: message,
  }));
  const records: RecordText[] = [];
  const skipped: SkippedRecord[] = [];
  const seen = new Map<string, number>();
  const zone = new ZoneIndex(apex);
  const created: FileRecord[] = [];
  for (const [i, record] of file.records.entries()) {
    if (i % PIECE_RECORDS === 0) yield;
    zone.add(asJudged(record));
    const { owner, line, column } = record;
    const type = apiTypeOf(record.type);
    const reason = reasonToSkip(record, type, apex) ?? (type && reasonOfTwin(record, type, seen));
    if (reason !== undefined || type === undefined) {
      const name = printRecordName(owner, apex);
      skipped.push({ line, name, type: type ?? typeMnemonic(record.type), reason: reason ?? '' });
      continue;
    }
    const read = recordText(record, type, apex);
    if (typeof read === 'string') errors.push({ line, column, error: read });
    else {
      records.push(read);
      const { rdata } = record;
      created.push({ name: owner, type, rdata, proxied: read.proxied === true, isNew: true, line, column });
    }
  }
  for (const { owner, line, type, reason } of file.leftOut) {
    const name = isWithin(owner, apex) ? printRecordName(owner, apex) : printName(owner);
    skipped.push({ line, name, type, reason: type === 'SOA' ? SOA_IS_MADE : reason });
  }
  skipped.sort((a, b) => a.line - b.line);
  errors.sort((a, b) => a.line - b.line || a.column - b.column);
  const warnings = joinWarnings(
    [...file.warnings, ...inspector.finish(zone)],
    yield* findWarnings(zone, file.records.map(asJudged)),
    yield* findFileConflicts(created, apex),
  );
  return { records, errors, skipped, warnings };
}

/** Returns an ANAME as an address record, because it is answered with the addresses of its target. */
function asJudged(record: ZoneFileRecord): JudgedRecord {
  return record.type === ANAME_CODE ? { ...record, type: TYPE.A, shownType: 'ANAME' } : record;
}

function apiTypeOf(code: number): ApiType | undefined {
  if (code === ANAME_CODE) return 'ANAME';
  const mnemonic = typeMnemonic(code);
  return isApiType(mnemonic) ? mnemonic : undefined;
}

function reasonToSkip(
  { owner, type: code }: ZoneFileRecord,
  type: ApiType | undefined,
  apex: Name,
): string | undefined {
  if (code === TYPE.SOA) return SOA_IS_MADE;
  if (type === 'NS' && owner === apex) return 'the nameservers of the domain itself are set by the service';
  if (type === 'DS' && owner === apex) return 'the DS of the domain itself belongs to the parent zone';
  if (DNSSEC_TYPES.has(code)) return 'the signer of the zone creates its own keys and signatures';
  return type === undefined ? 'records of this type are not supported' : undefined;
}

/** Duplicate records in a zone file count once (RFC 2181 §5). Several equal TXT records are separate rows here. */
function reasonOfTwin(
  { owner, rdata, line }: ZoneFileRecord,
  type: ApiType,
  seen: Map<string, number>,
): string | undefined {
  if (type === 'TXT') return undefined;
  const key = `${type} ${owner}${rdataKey(type, rdata)}`;
  const first = seen.get(key);
  if (first !== undefined) return `the same record is in line ${first}`;
  seen.set(key, line);
  return type === 'CNAME' || type === 'ANAME' ? reasonOfSecondAlias(owner, line, seen) : undefined;
}

/** Route 53 can have several aliases at one name. It picks one of them for each query. */
function reasonOfSecondAlias(owner: Name, line: number, seen: Map<string, number>): string | undefined {
  const key = `alias ${owner}`;
  const first = seen.get(key);
  if (first === undefined) seen.set(key, line);
  return first === undefined
    ? undefined
    : `a name can have only one CNAME or ANAME, and this name already has the one in line ${first}`;
}

/** Returns the import item for a record, or why there is none: the API refuses some names and hosts of zone files. */
function recordText(
  { owner, ttl, rdata, comment }: ZoneFileRecord,
  type: ApiType,
  apex: Name,
): RecordText | string {
  const name = printRecordName(owner, apex);
  const placed = parseRecordName(name, apex);
  if (placed.kind === 'problem') return placed.message;
  const { destination, mxPriority } = printDestination(type, rdata);
  const read = parseDestination(type, destination, mxPriority, apex);
  if (read.kind === 'problem') return read.message;
  const parsed = comment === undefined ? NO_SETTINGS : parseSettingsComment(comment);
  if (parsed.kind === 'problem') return parsed.message;
  const { proxied, ...settings } = parsed.settings;
  return {
    name,
    type,
    destination,
    ...(mxPriority !== undefined && { mx_priority: mxPriority }),
    ttl: Math.min(Math.max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS),
    // Cloudflare marks a whole file
    ...(proxied !== undefined && isAddressLike(type) && { proxied }),
    ...settings,
  };
}

const NO_SETTINGS: ParsedComment = { kind: 'settings', settings: {} };
