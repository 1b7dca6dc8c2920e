// Maps addresses to autonomous systems, from text with one prefix per line: `192.0.2.0/24 64496`, or with the prefix length
// as a separate word as in CAIDA's files. The longest prefix applies.

import { TextError } from '../../dns/errors.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';
import type { AsnOf } from './observation.ts';

/** IPv6 prefixes longer than 48 bits are not announced, and a number holds 48 bits exactly. */
const KEY_BITS = { 4: 32, 6: 48 } as const;
type Family = keyof typeof KEY_BITS;

/** Throws an Error that names the invalid line. */
export function readAsnDb(text: string): AsnOf {
  /** AS numbers by family, prefix length and prefix. */
  const tables = { 4: new Map<number, Map<number, number>>(), 6: new Map<number, Map<number, number>>() };
  let at = 0;
  for (const line of text.split('\n')) {
    at++;
    const plain = line.trim();
    if (plain === '' || plain.startsWith('#')) continue;
    const { family, bits, key, asn } = readLine(plain, at);
    const table = tables[family].get(bits) ?? new Map<number, number>();
    tables[family].set(bits, table.set(key, asn));
  }
  const lengths = { 4: descending(tables[4]), 6: descending(tables[6]) };
  return (address) => {
    const family = familyOf(address);
    const key = keyOf(address);
    if (key === undefined) return undefined;
    for (const bits of lengths[family]) {
      const asn = tables[family].get(bits)?.get(prefixOf(key, family, bits));
      if (asn !== undefined) return asn;
    }
    return undefined;
  };
}

function readLine(line: string, at: number): { family: Family; bits: number; key: number; asn: number } {
  const [, address = '', length = '', number = ''] =
    /^([^\s/]+)(?:\/|\s+)(\d{1,3})\s+(?:AS)?(\d{1,10})/i.exec(line) ?? [];
  const family = familyOf(address);
  const key = keyOf(address);
  const bits = Number(length);
  const isWhole = key !== undefined && length !== '' && bits <= KEY_BITS[family];
  if (!isWhole)
    throw new Error(`line ${at}: "${line}" must be a prefix and an AS number, such as 192.0.2.0/24 64496`);
  return { family, bits, key: prefixOf(key, family, bits), asn: Number(number) };
}

function descending(tables: ReadonlyMap<number, unknown>): number[] {
  return [...tables.keys()].sort((a, b) => b - a);
}

function familyOf(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

/** Returns the first bits of an address as a number. Returns undefined for text that is not an address. */
function keyOf(address: string): number | undefined {
  try {
    const family = familyOf(address);
    const octets = family === 6 ? parseIpv6(address) : parseIpv4(address);
    return octets.subarray(0, KEY_BITS[family] / 8).reduce((key, octet) => key * 256 + octet, 0);
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}

function prefixOf(key: number, family: Family, bits: number): number {
  return Math.floor(key / 2 ** (KEY_BITS[family] - bits));
}
