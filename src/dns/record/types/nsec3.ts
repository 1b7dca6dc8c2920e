// The next hashed name of a signed zone and the types at this one (RFC 5155 §3).

import { TYPE } from '../../type-codes.ts';
import { parseBase32Hex, printBase32Hex } from '../base-encodings.ts';
import { type Field, recordType } from '../record-type.ts';
import { typeBitmap } from '../type-bitmap.ts';
import { hashParameters } from './nsec3param.ts';

const hashedName: Field<Uint8Array> = {
  parse(tokens) {
    const token = tokens.word();
    const octets = tokens.read(token, parseBase32Hex);
    return octets.length <= 255 ? octets : tokens.fail('the hash is longer than 255 octets', token);
  },
  print: printBase32Hex,
  decode(wire) {
    const length = wire.u8();
    return length > 0 ? wire.take(length) : wire.fail('the hash is empty'); // RFC 5155 §3.2: 1 to 255
  },
  encode: (octets) => Buffer.concat([Uint8Array.of(octets.length), octets]),
};

export const NSEC3 = recordType(TYPE.NSEC3, {
  ...hashParameters,
  nextHashedName: hashedName,
  types: typeBitmap, // empty at an empty non-terminal (RFC 5155 §7.1)
});
