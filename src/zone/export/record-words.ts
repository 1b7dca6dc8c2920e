// Functions that the formats of several tools share.

import { type Name, nameInRdata, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { ZoneFileLexer } from '../../dns/zone-file/zone-file-lexer.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { type ApiType, wireTypeCode } from '../records/customer-types.ts';
import { printRecordName } from '../records/record-name.ts';

/** A record that a format cannot express, with the reason. */
export interface LeftOut {
  readonly name: string;
  readonly type: ApiType;
  readonly content: string;
  readonly reason: string;
}

/** Receives each record that is left out. */
export type LeaveOut = (left: LeftOut) => void;

export function leftOut({ name, type, rdata }: CustomerRecord, apex: Name, reason: string): LeftOut {
  return { name: printRecordName(name, apex), type, content: contentOf(type, rdata), reason };
}

export const leftOutLine = ({ name, type, content, reason }: LeftOut) =>
  `left out, because ${reason}: ${name} ${type} ${content}`;

function contentOf(type: ApiType, rdata: Uint8Array): string {
  return type === 'ANAME' ? printName(nameInRdata(rdata)) : printRdata(wireTypeCode(type), rdata);
}

/**
 * Returns the words of the record's text form, without quotes and escapes. Returns undefined if a word has octets other
 * than printable ASCII, or a name needs escapes.
 */
export function wordsOf({ type, rdata }: Pick<CustomerRecord, 'type' | 'rdata'>): string[] | undefined {
  const tokens = new ZoneFileLexer(contentOf(type, rdata), () => {}).next()?.tokens ?? [];
  const words = tokens.map(({ text, quoted }) => (quoted ? withoutEscapes(text) : text));
  const isPlain = words.every(
    (word, i) => /^[ -~]*$/.test(word) && (tokens[i]?.quoted || !/["\\]/.test(word)),
  );
  return isPlain ? words : undefined;
}

function withoutEscapes(text: string): string {
  return text.replace(/\\(\d{3}|[\s\S])/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped,
  );
}

/** Returns the octets of all strings of a TXT record together, because tools split the text themselves. */
export function txtOctets(rdata: Uint8Array): Buffer {
  const strings: Uint8Array[] = [];
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] as number))
    strings.push(rdata.subarray(at + 1, at + 1 + (rdata[at] as number)));
  return Buffer.concat(strings);
}

/** Returns the type in other tools. ANAME is ALIAS, and so is a proxied CNAME at the apex, where they allow no CNAME. */
export function toolType({ name, type }: Pick<CustomerRecord, 'name' | 'type'>, apex: Name): string {
  return type === 'ANAME' || (type === 'CNAME' && name === apex) ? 'ALIAS' : type;
}
