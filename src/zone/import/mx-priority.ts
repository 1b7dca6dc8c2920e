// Determines the priority of MX items without one: that of the row that they replace, preferably of the same host.

import { pairRecords } from '../edit/pair-records.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { rdataKey } from '../records/rdata-key.ts';
import type { ImportEntry } from './read-import.ts';

interface Held {
  readonly before: CustomerRecord;
  readonly after: CustomerRecord;
}

/** Returns the items of one MX set, each with a priority. `held` are the rows of the set. */
export function keepPriorities(held: readonly Held[], entries: readonly ImportEntry[]): ImportEntry[] {
  const specified = new Set(
    entries.filter(({ keepsPriority }) => keepsPriority !== true).map(({ rdata }) => keyOf(rdata)),
  );
  const rowsOf = new Map<string, Uint8Array[]>();
  for (const { rdata } of [...held].sort((a, b) => a.before.id - b.before.id).map(({ after }) => after)) {
    if (specified.has(keyOf(rdata))) continue; // this row belongs to another item
    const host = hostKey(rdata);
    const rows = rowsOf.get(host);
    if (rows === undefined) rowsOf.set(host, [rdata]);
    else rows.push(rdata);
  }
  const known = entries.map((entry): ImportEntry => {
    if (entry.keepsPriority !== true) return entry;
    const old = rowsOf.get(hostKey(entry.rdata))?.shift();
    return old === undefined ? entry : { ...withPriorityOf(entry, old), keepsPriority: false };
  });
  const taken = new Map(
    pairRecords('MX', held, known).pairs.map(({ content, row }) => [content.index, row.after.rdata]),
  );
  return known.map((entry) => {
    const old = entry.keepsPriority === true ? taken.get(entry.index) : undefined;
    return old === undefined ? entry : withPriorityOf(entry, old);
  });
}

function keyOf(rdata: Uint8Array): string {
  return rdataKey('MX', rdata);
}

function hostKey(rdata: Uint8Array): string {
  return keyOf(withPriority(rdata, Uint8Array.of(0, 0)));
}

function withPriorityOf(entry: ImportEntry, old: Uint8Array): ImportEntry {
  return { ...entry, rdata: withPriority(entry.rdata, old) };
}

/** The first two octets (RFC 1035 §3.3.9). */
function withPriority(rdata: Uint8Array, from: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(rdata);
  changed.set(from.subarray(0, 2));
  return changed;
}
