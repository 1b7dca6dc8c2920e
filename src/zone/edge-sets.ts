// Which addresses a proxied name publishes in each region: what the image holds once, and every set of a proxied name points to.

import { createHash } from 'node:crypto';
import { parseIpv4, parseIpv6 } from '../dns/record/ip-address.ts';
import { TYPE } from '../dns/type-codes.ts';

/** The addresses that a region publishes, those before them last: signed zones may lack signatures over the newest. */
export interface RegionSets {
  readonly region: string;
  readonly v4: readonly (readonly string[])[];
  readonly v6: readonly (readonly string[])[];
}

export interface EdgeSets {
  /** It rises with every change. */
  readonly version: number;
  readonly regions: readonly RegionSets[];
  /** The region of a country, by its code (ISO 3166-1 alpha-2). */
  readonly countries: Readonly<Record<string, string>>;
}

/** As many as fit beside a long question into 512 octets. */
export const MOST_SET_ADDRESSES = 16;
/** A signature over each set stands beside each name of a signed zone. */
export const MOST_REGIONS = 32;
export const SET_ID_OCTETS = 8;

/** Rdata in canonical order (RFC 4034 §6.3), each once. */
export function rdataOfSet(type: number, addresses: readonly string[]): Uint8Array[] {
  const parse = type === TYPE.A ? parseIpv4 : parseIpv6;
  const sorted = addresses.map((text) => Uint8Array.from(parse(text))).sort(Buffer.compare);
  return sorted.filter((rdata, i) => i === 0 || Buffer.compare(rdata, sorted[i - 1] as Uint8Array) !== 0);
}

/** Names a set by what it holds, so that no signature is ever taken for one over other addresses. */
export function idOfSet(type: number, rdata: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256').update(Uint8Array.of(type));
  for (const one of rdata) hash.update(one);
  return Uint8Array.from(hash.digest().subarray(0, SET_ID_OCTETS));
}
