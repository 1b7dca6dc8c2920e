// The items of an import read one by one, in the API's own field names: what an item says, or why it cannot be read.

import type { Name } from '../dns/name.ts';
import { setKey } from './customer-record.ts';
import type { NewRecord } from './edit.ts';
import { parseNewRecord, type RecordText } from './parse-edit.ts';
import { type ApiType, MAX_TTL_SECONDS, MIN_TTL_SECONDS } from './record-types.ts';

/** `index`: the item's place in the list. */
export type ImportEntry = NewRecord & { readonly index: number };

export interface ReadImport {
  readonly entries: readonly ImportEntry[];
  /** Why an item cannot be read, by its index. */
  readonly unread: ReadonlyMap<number, string>;
  /** The keys of the record sets that such an item would belong to, as far as it says so. */
  readonly incomplete: ReadonlySet<string>;
  /** Every name and type that the import is about. */
  readonly named: readonly { readonly name: Name; readonly type: ApiType }[];
}

const MAX_NAME_CHARACTERS = 1100; // 255 octets, each written as \DDD, and dots
const PIECE_ITEMS = 1000;

/** TTLs outside of the range are clamped. Long lists take long: between two pieces the caller can do something else. */
export function* readImport(items: readonly RecordText[], apex: Name): Generator<undefined, ReadImport> {
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
    const faults: { field: string; message: string }[] = [];
    const record = parseNewRecord({ ...item, ttl: clampTtl(item.ttl) }, apex, (field, message) =>
      faults.push({ field, message }),
    );
    const { name, type } = record;
    const isNamed = faults[0]?.field !== 'name';
    if (isNamed) named.set(setKey(name, type), { name, type });
    const [fault] = faults;
    if (fault === undefined) {
      entries.push({ ...record, index });
    } else {
      unread.set(index, fault.message);
      if (isNamed) incomplete.add(setKey(name, type));
    }
  }
  return { entries, unread, incomplete, named: [...named.values()] };
}

function clampTtl(ttl: number | undefined): number | undefined {
  return ttl === undefined ? undefined : Math.min(Math.max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
}
