// Reads the items of an import one by one, with the API's field names. Returns each item's content, or the reason why
// it cannot be read.

import type { Name } from '../../dns/name.ts';
import type { NewRecord } from '../edit/edit.ts';
import { parseNewRecord, type RecordText } from '../edit/parse-edit.ts';
import { isWellFormed, MAX_NAME_CHARACTERS } from '../name-text.ts';
import { type OriginScheme, setKey } from '../records/customer-record.ts';
import {
  type ApiType,
  DEFAULT_MX_PRIORITY,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  readApiType,
} from '../records/customer-types.ts';
import { judgeRanges } from '../records/judge-record.ts';

/** An item as received. Invalid values are reported like all other errors. */
export type ImportText = Omit<RecordText, 'type' | 'scheme'> & {
  readonly type: string;
  readonly scheme?: string | undefined;
};

export type ImportEntry = NewRecord & {
  /** Index of the item in the list. */
  readonly index: number;
  /** True for an MX item without a priority. It keeps that of the row that it replaces. */
  readonly keepsPriority?: boolean;
};

export interface ReadImport {
  readonly entries: readonly ImportEntry[];
  /** The reasons why items cannot be read, by index. */
  readonly unread: ReadonlyMap<number, string>;
  /** The keys of the record sets to which such items belong, as far as known. */
  readonly incomplete: ReadonlySet<string>;
  /** All names and types in the import. */
  readonly named: readonly { readonly name: Name; readonly type: ApiType }[];
}

const PIECE_ITEMS = 1000;

/** TTLs outside of the range are clamped. Yields between pieces of a long list, so that the caller can do other work. */
export function* readImport(items: readonly ImportText[], apex: Name): Generator<undefined, ReadImport> {
  const entries: ImportEntry[] = [];
  const unread = new Map<number, string>();
  const incomplete = new Set<string>();
  const named = new Map<string, { name: Name; type: ApiType }>();
  for (const [index, item] of items.entries()) {
    if (index % PIECE_ITEMS === 0) yield;
    if (item.name.length > MAX_NAME_CHARACTERS) {
      unread.set(index, 'a name is longer than 255 octets');
      continue;
    }
    const readType = readApiType(item.type);
    if (readType.kind === 'problem') {
      unread.set(index, readType.message);
      continue;
    }
    const { type } = readType;
    const faults: { field: string; message: string }[] = [];
    const report = (field: string, message: string) => faults.push({ field, message });
    const scheme = item.scheme as OriginScheme | undefined; // validated with the ranges
    const keepsPriority = type === 'MX' && item.mx_priority === undefined;
    const ttl = clampTtl(item.ttl);
    const readFields = keepsPriority
      ? { type, scheme, ttl, mx_priority: DEFAULT_MX_PRIORITY }
      : { type, scheme, ttl };
    const record = parseNewRecord(Object.assign({}, item, readFields), apex, report);
    // Postgres accepts neither NUL nor half of a surrogate pair.
    for (const field in item) {
      const value = item[field as keyof ImportText];
      if (typeof value === 'string' && (value.includes('\0') || !isWellFormed(value)))
        report(field, `the ${field} is not well-formed text`);
    }
    for (const { field, message } of judgeRanges(record)) report(field, message);
    const { name } = record;
    const isNamed = !faults.some(({ field }) => field === 'name');
    if (isNamed) named.set(setKey(name, type), { name, type });
    const [fault] = faults;
    if (fault === undefined) {
      entries.push(Object.assign(record, keepsPriority ? { index, keepsPriority } : { index }));
    } else {
      unread.set(index, fault.message);
      if (isNamed) incomplete.add(setKey(name, type));
    }
  }
  return { entries, unread, incomplete, named: [...named.values()] };
}

function clampTtl(ttl: number | undefined): number | undefined {
  if (ttl === undefined || !Number.isInteger(ttl)) return ttl;
  return Math.min(Math.max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
}
