// The content of a reply in a comparable form: sections as sorted lines with folded owners. The case of names in rdata
// is folded too for types that consist mainly of names, because NSD and Knot load them in lower case.

import { decodeMessage, type MessageRecord } from '../../../src/dns/message/message.ts';
import { rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { RecordSet } from '../../../src/zone/zone.ts';

export interface Observed {
  readonly rcode: string;
  readonly aa: boolean;
  readonly tc: boolean;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
  /** Octets of the message; 0 if there was none. */
  readonly octets: number;
}

const FOLDED_RDATA = new Set<number>([
  TYPE.NS,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.PTR,
  TYPE.MX,
  TYPE.RP,
  TYPE.AFSDB,
  TYPE.SRV,
  TYPE.DNAME,
  TYPE.NAPTR,
  TYPE.SVCB,
  TYPE.HTTPS,
]);

interface Line {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/** Prints `owner TTL type rdata` for comparison. */
function lineOf({ owner, type, ttl, rdata }: Line): string {
  const text = printRdata(type, rdata);
  const value = FOLDED_RDATA.has(type) ? text.toLowerCase() : text;
  return `${printName(foldCase(owner))} ${ttl} ${typeMnemonic(type)} ${value}`;
}

/** Keeps duplicates: an answer must not contain a record twice. */
export function linesOf(records: readonly Line[]): string[] {
  return records.map(lineOf).sort();
}

export function linesOfSets(sets: readonly RecordSet[]): string[] {
  return linesOf(sets.flatMap(({ rdata, ...set }) => rdata.map((one) => ({ ...set, rdata: one }))));
}

export function observe(reply: Uint8Array): Observed {
  const message = decodeMessage(reply);
  const section = (records: readonly MessageRecord[]) => linesOf(records);
  return {
    rcode: rcodeMnemonic(message.rcode),
    aa: message.aa,
    tc: message.tc,
    answer: section(message.answers),
    authority: section(message.authorities),
    additional: section(message.additionals),
    octets: reply.length,
  };
}

export function isSame(a: Observed, b: Observed): boolean {
  return (
    a.rcode === b.rcode &&
    a.aa === b.aa &&
    a.tc === b.tc &&
    isSameSection(a.answer, b.answer) &&
    isSameSection(a.authority, b.authority) &&
    isSameSection(a.additional, b.additional)
  );
}

export function isSameSection(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

export function describeObserved(seen: Observed): string {
  const flags = `${seen.aa ? ' aa' : ''}${seen.tc ? ' tc' : ''}`;
  const part = (name: string, lines: readonly string[]) => lines.map((line) => `    ${name}: ${line}`);
  return [
    `  ${seen.rcode}${flags} (${seen.octets} octets)`,
    ...part('answer', seen.answer),
    ...part('authority', seen.authority),
    ...part('additional', seen.additional),
  ].join('\n');
}
