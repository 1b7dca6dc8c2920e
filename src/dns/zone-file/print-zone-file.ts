// Prints a zone as a readable file that BIND, NSD and Knot can load: relative owners, canonical order (RFC 4034 §6.1),
// the SOA first. An owner is printed only on its first line; its other lines start with blanks.

import { sortNames } from '../dnssec/sort-names.ts';
import { type Name, printName, ROOT } from '../name.ts';
import { printRdata } from '../record/rdata.ts';
import { TYPE, typeMnemonic } from '../type-codes.ts';

interface PrintableRecord {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

const OWNER_COLUMNS = 24;
const SOA_FIELDS = ['serial', 'refresh', 'retry', 'expire', 'minimum'];
const FIRST_TYPES = [TYPE.SOA, TYPE.NS]; // others sorted by number

/** @param records in any order; their owners are folded and in the zone */
export function printZoneFile(apex: Name, records: Iterable<PrintableRecord>): string {
  return `${[...printZoneFileEntries(apex, records)].join('\n')}\n`;
}

/** Yields the entries one by one, without line breaks after them. */
export function* printZoneFileEntries(apex: Name, records: Iterable<PrintableRecord>): Generator<string> {
  const byOwner = new Map<Name, PrintableRecord[]>();
  for (const record of records) {
    const ofOwner = byOwner.get(record.owner);
    if (ofOwner === undefined) byOwner.set(record.owner, [record]);
    else ofOwner.push(record);
  }
  const defaultTtl = commonestTtl(byOwner.values());
  yield `$ORIGIN ${printName(apex)}`;
  if (defaultTtl !== undefined) yield `$TTL ${defaultTtl}`;
  for (const owner of sortNames(byOwner.keys())) {
    let column = relativeOwner(owner, apex);
    for (const record of (byOwner.get(owner) as PrintableRecord[]).sort(compareRecords)) {
      yield printRecord(column, record, defaultTtl);
      column = '';
    }
  }
}

function printRecord(
  ownerColumn: string,
  { type, ttl, rdata }: PrintableRecord,
  defaultTtl?: number,
): string {
  const ttlColumn = ttl === defaultTtl ? '' : `${ttl} `;
  const text = type === TYPE.SOA ? printSoa(printRdata(type, rdata)) : printRdata(type, rdata);
  return `${ownerColumn.padEnd(OWNER_COLUMNS)} ${ttlColumn}IN ${typeMnemonic(type)} ${text}`;
}

/** Prints each number of the SOA on its own line, with its name as a comment. */
function printSoa(text: string): string {
  const [primary, mailbox, ...numbers] = text.split(' ');
  const lines = numbers.map(
    (number, i) => `${' '.repeat(OWNER_COLUMNS + 4)}${number.padEnd(10)} ; ${SOA_FIELDS[i]}`,
  );
  return `${primary} ${mailbox} (\n${lines.join('\n')}\n${' '.repeat(OWNER_COLUMNS + 1)})`;
}

/** Returns `@`, or the name without the apex and the final dot. */
export function relativeOwner(owner: Name, apex: Name): string {
  if (owner === apex) return '@';
  return printName((owner.slice(0, owner.length - apex.length) + ROOT) as Name).slice(0, -1);
}

/** Returns the most common TTL; the lower one of two, so that the text does not depend on the order of records. */
function commonestTtl(groups: Iterable<readonly PrintableRecord[]>): number | undefined {
  const counts = new Map<number, number>();
  for (const group of groups) for (const { ttl } of group) counts.set(ttl, (counts.get(ttl) ?? 0) + 1);
  const [commonest] = [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b);
  return commonest?.[0];
}

function compareRecords(a: PrintableRecord, b: PrintableRecord): number {
  return rankOf(a.type) - rankOf(b.type) || Buffer.compare(a.rdata, b.rdata);
}

function rankOf(type: number): number {
  const rank = FIRST_TYPES.indexOf(type as never);
  return rank < 0 ? type : rank - FIRST_TYPES.length;
}
