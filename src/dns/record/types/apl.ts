// A list of address prefixes, possibly empty (RFC 3123). The text form supports only IPv4 and IPv6; rdata with another
// address family is printed in the form of RFC 3597.

import { TYPE } from '../../type-codes.ts';
import { printGeneric } from '../generic-rdata.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../ip-address.ts';
import { type Field, recordType } from '../record-type.ts';
import type { TokenReader } from '../token-reader.ts';
import type { WireReader } from '../wire-reader.ts';

interface AddressPrefix {
  /** IANA "Address Family Numbers". */
  readonly family: number;
  readonly prefixBits: number;
  readonly isNegated: boolean;
  /** Without trailing zero octets (RFC 3123 §4). */
  readonly address: Uint8Array;
}

interface Family {
  readonly octets: number;
  parse(text: string): Uint8Array;
  print(octets: Uint8Array): string;
}

const FAMILIES: ReadonlyMap<number, Family> = new Map([
  [1, { octets: 4, parse: parseIpv4, print: printIpv4 }],
  [2, { octets: 16, parse: parseIpv6, print: printIpv6 }],
]);

const prefixes: Field<AddressPrefix[]> = {
  parse(tokens) {
    const list: AddressPrefix[] = [];
    while (tokens.peek() !== undefined) list.push(parsePrefix(tokens));
    return list;
  },
  print(list) {
    const isKnown = list.every(({ family }) => FAMILIES.has(family));
    return isKnown ? list.map(printPrefix).join(' ') : printGeneric(prefixes.encode(list));
  },
  decode(wire) {
    const list: AddressPrefix[] = [];
    while (wire.left > 0) list.push(decodePrefix(wire));
    return list;
  },
  encode: (list) =>
    Buffer.concat(
      list.flatMap(({ family, prefixBits, isNegated, address }) => [
        Uint8Array.of(family >> 8, family & 0xff, prefixBits, (isNegated ? 0x80 : 0) | address.length),
        address,
      ]),
    ),
};

/** Parses `[!]family:address/prefix` (RFC 3123 §5). */
function parsePrefix(tokens: TokenReader): AddressPrefix {
  const token = tokens.word();
  const match = /^(!?)([0-9]{1,5}):([^/]+)\/([0-9]{1,3})$/.exec(token.text);
  if (match === null) return tokens.fail(`"${token.text}" is not a prefix such as 1:192.0.2.0/24`, token);
  const [, negation, familyText, addressText = '', bitsText] = match;
  const family = FAMILIES.get(Number(familyText));
  if (family === undefined) {
    return tokens.fail(`the address family ${familyText} is not 1 (IPv4) or 2 (IPv6)`, token);
  }
  const prefixBits = Number(bitsText);
  if (prefixBits > 8 * family.octets) tokens.fail(tooLong(prefixBits, family), token);
  const address = tokens.read({ ...token, text: addressText }, family.parse);
  const octets = address.findLastIndex((octet) => octet !== 0) + 1;
  return {
    family: Number(familyText),
    prefixBits,
    isNegated: negation === '!',
    address: address.subarray(0, octets),
  };
}

function printPrefix({ family, prefixBits, isNegated, address }: AddressPrefix): string {
  const { octets, print } = FAMILIES.get(family) as Family;
  const whole = new Uint8Array(octets);
  whole.set(address);
  return `${isNegated ? '!' : ''}${family}:${print(whole)}/${prefixBits}`;
}

function decodePrefix(wire: WireReader): AddressPrefix {
  const family = wire.u16();
  const prefixBits = wire.u8();
  const length = wire.u8();
  const address = wire.take(length & 0x7f);
  if (address.at(-1) === 0) wire.fail('an address ends in zero octets'); // RFC 3123 §4: there must be none
  const known = FAMILIES.get(family);
  if (known !== undefined && prefixBits > 8 * known.octets) wire.fail(tooLong(prefixBits, known));
  if (known !== undefined && address.length > known.octets) {
    wire.fail(`an address of family ${family} has ${address.length} octets, more than ${known.octets}`);
  }
  return { family, prefixBits, isNegated: length >= 0x80, address };
}

function tooLong(prefixBits: number, { octets }: Family): string {
  return `the prefix has ${prefixBits} bits, more than ${8 * octets}`;
}

export const APL = recordType(TYPE.APL, { prefixes });
