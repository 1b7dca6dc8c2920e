// How the names of a zone are hashed for NSEC3 (RFC 5155 §4).

import { TYPE } from '../../type-codes.ts';
import { parseHex, printHex } from '../base-encodings.ts';
import { u8, u16 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';

/** Hexadecimal without spaces, `-` for none (RFC 5155 §3.3). */
const salt: Field<Uint8Array> = {
  parse(tokens) {
    const token = tokens.word();
    if (token.text === '-') return new Uint8Array(0);
    const octets = tokens.read(token, parseHex);
    return octets.length <= 255 ? octets : tokens.fail('the salt is longer than 255 octets', token);
  },
  print: (octets) => (octets.length === 0 ? '-' : printHex(octets)),
  decode: (wire) => wire.take(wire.u8()),
  encode: (octets) => Buffer.concat([Uint8Array.of(octets.length), octets]),
};

/** NSEC3 begins with the same fields. */
export const hashParameters = { hashAlgorithm: u8, flags: u8, iterations: u16, salt };

export const NSEC3PARAM = recordType(TYPE.NSEC3PARAM, hashParameters);
