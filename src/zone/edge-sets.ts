// The addresses that a proxied name publishes in each region. The image stores them once, and every set of a proxied
// name refers to them.

import { createHash } from 'node:crypto';
import { parseIpv4, parseIpv6 } from '../dns/record/ip-address.ts';
import { TYPE } from '../dns/type-codes.ts';

/** The addresses that a region publishes, then the previous ones, whose signatures are used until the new ones exist. */
export interface RegionSets {
  readonly region: string;
  readonly v4: readonly (readonly string[])[];
  readonly v6: readonly (readonly string[])[];
}

export interface EdgeSets {
  /** Increases with every change. */
  readonly version: number;
  readonly regions: readonly RegionSets[];
  /** Region by country code (ISO 3166-1 alpha-2). */
  readonly countries: Readonly<Record<string, string>>;
}

/** Maximum number that fits into 512 octets together with a long question. */
export const MOST_SET_ADDRESSES = 16;
/** Each name of a signed zone stores a signature over each set. */
export const MOST_REGIONS = 32;
export const SET_ID_OCTETS = 8;

/** Returns distinct rdata in canonical order (RFC 4034 §6.3). */
export function rdataOfSet(type: number, addresses: readonly string[]): Uint8Array[] {
  const parse = type === TYPE.A ? parseIpv4 : parseIpv6;
  const sorted = addresses.map((text) => Uint8Array.from(parse(text))).sort(Buffer.compare);
  return sorted.filter((rdata, i) => i === 0 || Buffer.compare(rdata, sorted[i - 1] as Uint8Array) !== 0);
}

/** Derives the id of a set from its content, so that a signature never applies to other addresses. */
export function idOfSet(type: number, rdata: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256').update(Uint8Array.of(type));
  for (const one of rdata) hash.update(one);
  return Uint8Array.from(hash.digest().subarray(0, SET_ID_OCTETS));
}
