// Which addresses a question may be sent to. Zone owners choose the addresses of their nameservers, so only addresses
// that the IANA special-purpose registries (RFC 6890, RFC 8190) call globally reachable are asked, and those that
// RESOLVER_ALLOW lists.

import { TextError } from '../../dns/errors.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';

/** An IPv4 or IPv6 prefix. */
export interface Network {
  /** 4 or 16 octets, zero after the prefix. */
  readonly octets: Uint8Array;
  readonly bits: number;
}

const FORBIDDEN_IPV4 = networks(
  '0.0.0.0/8', // this network: RFC 791 §3.2
  '10.0.0.0/8', // private: RFC 1918
  '100.64.0.0/10', // shared with carriers: RFC 6598
  '127.0.0.0/8', // loopback: RFC 1122 §3.2.1.3
  '169.254.0.0/16', // link-local: RFC 3927
  '172.16.0.0/12', // private: RFC 1918
  '192.0.0.0/24', // protocol assignments: RFC 6890 §2.1; its anycast addresses serve no DNS
  '192.0.2.0/24', // documentation: RFC 5737
  '192.88.99.0/24', // 6to4 relays, withdrawn: RFC 7526
  '192.168.0.0/16', // private: RFC 1918
  '198.18.0.0/15', // benchmarks: RFC 2544
  '198.51.100.0/24', // documentation: RFC 5737
  '203.0.113.0/24', // documentation: RFC 5737
  '224.0.0.0/4', // multicast: RFC 5771
  '240.0.0.0/4', // reserved: RFC 1112 §4; with 255.255.255.255, RFC 919 §7
);

/** All space allocated for global unicast (RFC 4291 §2.4): not ::1, v4-mapped, fc00::/7, fe80::/10, ff00::/8 … */
const GLOBAL_IPV6 = network('2000::/3');

const FORBIDDEN_IPV6 = networks(
  '2001::/23', // protocol assignments, Teredo, benchmarks, ORCHID: RFC 2928, RFC 4380, RFC 5180, RFC 7343
  '2001:db8::/32', // documentation: RFC 3849
  '3fff::/20', // documentation: RFC 9637
);

/** Networks within 2001::/23 that hold nameservers all the same. */
const AS112_IPV6 = network('2001:4:112::/48'); // RFC 7535

/** Prefixes followed by an IPv4 address: packets are delivered to that address. */
const SIX_TO_FOUR = network('2002::/16'); // RFC 3056 §2
const NAT64 = network('64:ff9b::/96'); // RFC 6052 §2.1

export function isAskable(address: string, allowed: readonly Network[]): boolean {
  const octets = readAddress(address);
  if (octets === undefined) return false;
  return allowed.some((each) => holds(each, octets)) || isGloballyReachable(octets);
}

function isGloballyReachable(octets: Uint8Array): boolean {
  if (octets.length === 4) return !FORBIDDEN_IPV4.some((each) => holds(each, octets));
  // What is allowed as such is not allowed in disguise.
  if (holds(NAT64, octets)) return isGloballyReachable(octets.subarray(12, 16));
  if (holds(SIX_TO_FOUR, octets)) return isGloballyReachable(octets.subarray(2, 6));
  if (holds(AS112_IPV6, octets)) return true;
  return holds(GLOBAL_IPV6, octets) && !FORBIDDEN_IPV6.some((each) => holds(each, octets));
}

/** Reads `10.0.0.0/8`, or one address; bits after the prefix are ignored. Undefined for other text. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...more] = text.split('/');
  const octets = readAddress(address);
  if (octets === undefined || more.length > 0) return undefined;
  if (length !== undefined && !/^[0-9]{1,3}$/.test(length)) return undefined;
  const bits = length === undefined ? octets.length * 8 : Number(length);
  if (bits > octets.length * 8) return undefined;
  return { octets: octets.map((octet, i) => octet & maskOf(bits - 8 * i)), bits };
}

/** The network of an address, a /24 or a /48, as text: questions to all its addresses are limited together. */
export function networkOf(address: string): string {
  const octets = readAddress(address);
  if (octets === undefined) return address;
  const bits = octets.length === 4 ? 24 : 48;
  return `${Buffer.from(octets.subarray(0, bits / 8)).toString('hex')}/${bits}`;
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new RangeError(`"${text}" is not a network`);
  return parsed;
}

function networks(...texts: string[]): Network[] {
  return texts.map(network);
}

function holds({ octets: prefix, bits }: Network, octets: Uint8Array): boolean {
  if (prefix.length !== octets.length) return false;
  for (let i = 0; 8 * i < bits; i++) {
    if (((octets[i] as number) & maskOf(bits - 8 * i)) !== prefix[i]) return false;
  }
  return true;
}

/** The mask of an octet of which the first `bits` belong to the prefix. */
function maskOf(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff00 >> bits) & 0xff;
}

function readAddress(text: string): Uint8Array | undefined {
  try {
    return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}
