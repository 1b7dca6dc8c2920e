// Questions for many domains of the same few records, with the answer that each has to get and how nodes have to count it.

import { encodeName, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { pick, type Random } from '../random/random-zones.ts';

const NOERROR = 0;
const NXDOMAIN = 3;
export const REFUSED = 5;
/** All types without a name of their own. */
const OTHER = 0;
const HEADER_OCTETS = 12;

interface Kind {
  /** Undefined: a random one that is not there. */
  readonly label: string | undefined;
  readonly type: number;
  readonly rcode: number;
}

const there = (label: string, ...types: number[]) =>
  types.map((type): Kind => ({ label, type, rcode: NOERROR }));
const KINDS: readonly Kind[] = [
  ...there('www', TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.ANY, 65280),
  ...there('', TYPE.SOA, TYPE.NS, TYPE.MX, TYPE.DNSKEY, 4711),
  ...[TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.HTTPS, 65280].map((type) => ({
    label: undefined,
    type,
    rcode: NXDOMAIN,
  })),
];
const HAS_NAME: readonly number[] = Object.values(TYPE);

/** What every domain has, as text: see recordText. */
export const RECORDS = ['www A 192.0.2.1', '@ MX 10 mail.example.net'];

export interface Question {
  /** With a message id of 0. */
  readonly packet: Buffer;
  readonly rcode: number;
  /** Undefined: of no zone, so it is not counted. */
  readonly counted: { readonly domain: string; readonly type: number } | undefined;
}

/** One question of fifty is for a zone that nobody has. The first domains are asked more often than the last. */
export function drawQuestion(random: Random, domains: readonly string[]): Question {
  const { label, type, rcode } = pick(random, KINDS);
  if (random() < 0.02)
    return {
      packet: packetOf(random, 'www', 'elsewhere.', type),
      rcode: REFUSED,
      counted: undefined,
    };
  const domain = domains[Math.floor(random() ** 2 * domains.length)] as string;
  const first = label ?? `x${Math.floor(random() * 1e9).toString(36)}`;
  return {
    packet: packetOf(random, first, domain, type),
    rcode,
    counted: { domain, type: HAS_NAME.includes(type) ? type : OTHER },
  };
}

/** Each letter in a random case. */
function packetOf(random: Random, label: string, domain: string, type: number): Buffer {
  const name = encodeName(parseName(label === '' ? domain : `${label}.${domain}`));
  const packet = Buffer.alloc(HEADER_OCTETS + name.length + 4);
  packet.writeUInt16BE(1, 4);
  packet.set(name, HEADER_OCTETS);
  for (let at = HEADER_OCTETS; at < HEADER_OCTETS + name.length; at++) {
    const octet = packet[at] as number;
    if (octet >= 0x61 && octet <= 0x7a && random() < 0.5) packet[at] = octet - 0x20;
  }
  packet.writeUInt16BE(type, packet.length - 4);
  packet.writeUInt16BE(1, packet.length - 2);
  return packet;
}
