// Assigns rows to records when a record set is replaced. Rows with equal rdata stay unchanged, and the rest take new
// rdata in the order of their ids. Ids, proxied flags and origin settings thus survive a new address.

import type { ApiType } from '../records/customer-types.ts';
import { rdataKey } from '../records/rdata-key.ts';
import type { NewContent } from './edit.ts';

interface Held {
  readonly before: { readonly id: number } | undefined;
  readonly after: { readonly rdata: Uint8Array } | undefined;
}

interface Wanted<C extends NewContent = NewContent> {
  readonly content: C;
  /** The path in the caller's edit. */
  readonly path: string;
}

/** `held` are existing rows. The order of `records` does not matter. */
export function pairRecords<R extends Held, C extends NewContent>(
  type: ApiType,
  held: readonly R[],
  records: readonly C[],
): { pairs: (Wanted<C> & { row: R })[]; added: Wanted<C>[]; leftOver: R[] } {
  const byId = [...held].sort((a, b) => (a.before?.id ?? 0) - (b.before?.id ?? 0));
  const rowsByKey = new Map<string, R[]>();
  for (const row of byId) {
    const key = rdataKey(type, row.after?.rdata as Uint8Array);
    const same = rowsByKey.get(key);
    if (same === undefined) rowsByKey.set(key, [row]);
    else same.push(row);
  }
  const wanted = records
    .map((content, i) => ({ content, path: `records[${i}].`, key: rdataKey(type, content.rdata) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

  const pairs: (Wanted<C> & { row: R })[] = [];
  const unmatched = wanted.filter(({ content, path, key }) => {
    const row = rowsByKey.get(key)?.shift();
    if (row !== undefined) pairs.push({ content, path, row });
    return row === undefined;
  });
  const kept = new Set(pairs.map(({ row }) => row));
  const free = byId.filter((row) => !kept.has(row));
  const added: Wanted<C>[] = [];
  for (const [i, { content, path }] of unmatched.entries()) {
    const row = free[i];
    if (row === undefined) added.push({ content, path });
    else pairs.push({ content, path, row });
  }
  return { pairs, added, leftOver: free.slice(unmatched.length) };
}
