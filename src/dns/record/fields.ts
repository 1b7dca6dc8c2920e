// The kinds of fields in rdata. Each applies the same rules to text and wire data, so that everything that can be
// parsed can be decoded, and vice versa.

import { upperCaseAscii } from '../ascii.ts';
import { encodeName, type Name, parseName, printName } from '../name.ts';
import { parseBase64, parseHex, printBase64, printHex } from './base-encodings.ts';
import { parseCharacterString, printCharacterString } from './character-string.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from './ip-address.ts';
import type { Field } from './record-type.ts';
import type { Token } from './token.ts';
import type { TokenReader } from './token-reader.ts';

export const u8 = unsigned(1);
export const u16 = unsigned(2);
export const u32 = unsigned(4);

function unsigned(octets: 1 | 2 | 4): Field<number> {
  const max = 2 ** (8 * octets) - 1;
  return {
    octets,
    parse: (tokens) => parseNumber(tokens, max),
    print: String,
    decode: (wire) => (octets === 1 ? wire.u8() : octets === 2 ? wire.u16() : wire.u32()),
    encode: (value) => encodeNumber(value, octets),
  };
}

function parseNumber(tokens: TokenReader, max: number): number {
  const token = tokens.word();
  if (!/^[0-9]+$/.test(token.text) || Number(token.text) > max) {
    tokens.fail(`"${token.text}" is not a number from 0 to ${max}`, token);
  }
  return Number(token.text);
}

export function encodeNumber(value: number, octets: number): Uint8Array {
  return Uint8Array.from(
    { length: octets },
    (_, i) => Math.floor(value / 2 ** (8 * (octets - 1 - i))) & 0xff,
  );
}

/** A number that may be written as a mnemonic (in any case). It is printed as a number. */
export function numberOrMnemonic(
  field: Field<number>,
  mnemonics: Readonly<Record<string, number>>,
): Field<number> {
  return {
    ...field,
    parse(tokens) {
      const word = upperCaseAscii(tokens.peek()?.text ?? '');
      if (!Object.hasOwn(mnemonics, word)) return field.parse(tokens);
      tokens.word();
      return mnemonics[word] as number;
    },
  };
}

export const domainName: Field<Name> = {
  isName: true,
  parse: (tokens) => tokens.read(tokens.word(), (text) => parseName(text, tokens.origin)),
  print: printName,
  decode: (wire) => wire.name(),
  encode: encodeName,
};

export const ipv4Address: Field<Uint8Array> = {
  octets: 4,
  parse: (tokens) => tokens.read(tokens.word(), parseIpv4),
  print: printIpv4,
  decode: (wire) => wire.take(4),
  encode: (value) => value,
};

export const ipv6Address: Field<Uint8Array> = {
  octets: 16,
  parse: (tokens) => tokens.read(tokens.word(), parseIpv6),
  print: printIpv6,
  decode: (wire) => wire.take(16),
  encode: (value) => value,
};

/** One character-string, preceded by its length on the wire (RFC 1035 §3.3). */
export const characterString: Field<Uint8Array> = {
  parse: (tokens) => parseLimited(tokens, tokens.next()),
  print: printCharacterString,
  decode: (wire) => wire.take(wire.u8()),
  encode: (value) => Buffer.concat([Uint8Array.of(value.length), value]),
};

function parseLimited(tokens: TokenReader, token: Token): Uint8Array {
  const octets = tokens.read(token, parseCharacterString);
  if (octets.length > 255) {
    tokens.fail(
      `the string has ${octets.length} octets, more than 255; split it into several strings`,
      token,
    );
  }
  return octets;
}

/** One or more character-strings up to the end of the rdata. */
export const characterStrings: Field<Uint8Array[]> = {
  parse(tokens) {
    const strings = [characterString.parse(tokens)];
    while (tokens.peek() !== undefined) strings.push(characterString.parse(tokens));
    return strings;
  },
  print: (value) => value.map(printCharacterString).join(' '),
  decode(wire) {
    const strings = [characterString.decode(wire)];
    while (wire.left > 0) strings.push(characterString.decode(wire));
    return strings;
  },
  encode: (value) => Buffer.concat(value.map((string) => characterString.encode(string))),
};

/** Text up to the end of the rdata. It has no length field, so it may exceed 255 octets. */
export const text: Field<Uint8Array> = {
  parse: (tokens) => tokens.read(tokens.next(), parseCharacterString),
  print: printCharacterString,
  decode: (wire) => wire.take(wire.left),
  encode: (value) => value,
};

/** At least one octet, up to the end of the rdata. The text may contain spaces. */
export const hex = encodedRest(parseHex, printHex);
export const base64 = encodedRest(parseBase64, printBase64);

function encodedRest(
  parse: (text: string) => Uint8Array,
  print: (octets: Uint8Array) => string,
): Field<Uint8Array> {
  return {
    parse(tokens) {
      const first = tokens.word();
      const text = [first, ...tokens.words()].map((word) => word.text).join('');
      return tokens.read({ ...first, text }, parse);
    },
    print,
    decode(wire) {
      if (wire.left === 0) wire.fail('the field is missing');
      return wire.take(wire.left);
    },
    encode: (value) => value,
  };
}

/** Adds a rule to a field: `judge` returns an error message for an invalid value. */
export function checked<V>(field: Field<V>, judge: (value: V) => string | undefined): Field<V> {
  return {
    ...field,
    parse(tokens) {
      const token = tokens.peek();
      const value = field.parse(tokens);
      const fault = judge(value);
      return fault === undefined ? value : tokens.fail(fault, token);
    },
    decode(wire) {
      const value = field.decode(wire);
      const fault = judge(value);
      return fault === undefined ? value : wire.fail(fault);
    },
  };
}
