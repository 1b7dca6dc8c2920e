// Networks: prefixes of IPv4 and IPv6 addresses.

import { TextError } from '../errors.ts';
import { parseAddress } from './ip-address.ts';

export interface Network {
  /** 4 or 16 octets, zero after the prefix. */
  readonly octets: Uint8Array;
  readonly bits: number;
}

/** Parses `10.0.0.0/8`, or a single address. Bits after the prefix are ignored. Returns undefined for other text. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...more] = text.split('/');
  const octets = addressOctets(address);
  if (octets === undefined || more.length > 0) return undefined;
  if (length !== undefined && !/^[0-9]{1,3}$/.test(length)) return undefined;
  const bits = length === undefined ? octets.length * 8 : Number(length);
  if (bits > octets.length * 8) return undefined;
  return { octets: octets.map((octet, i) => octet & maskOf(bits - 8 * i)), bits };
}

/** Parses the texts, all of which must be networks. */
export function networksOf(...texts: readonly string[]): Network[] {
  return texts.map((text) => {
    const parsed = parseNetwork(text);
    if (parsed === undefined) throw new RangeError(`"${text}" is not a network`);
    return parsed;
  });
}

export function isInNetwork({ octets: prefix, bits }: Network, octets: Uint8Array): boolean {
  if (prefix.length !== octets.length) return false;
  for (let i = 0; 8 * i < bits; i++) {
    if (((octets[i] as number) & maskOf(bits - 8 * i)) !== prefix[i]) return false;
  }
  return true;
}

/** Returns the mask of an octet whose first `bits` bits belong to the prefix. */
function maskOf(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff00 >> bits) & 0xff;
}

/** Returns undefined if the text is not an address. */
export function addressOctets(text: string): Uint8Array | undefined {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}
