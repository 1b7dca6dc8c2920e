// The set of types at a name, as in NSEC and NSEC3 (RFC 4034 §4.1.2): mnemonics in text, windows of bits on the wire.

import { typeCode, typeMnemonic } from '../type-codes.ts';
import type { Field } from './record-type.ts';

/** Codes in ascending order. Only the exact encoding is accepted: ascending windows, without trailing zero octets. */
export const typeBitmap: Field<number[]> = {
  parse(tokens) {
    const codes = tokens.words().map((token) => {
      const code = typeCode(token.text);
      return code ?? tokens.fail(`"${token.text}" is not a record type`, token);
    });
    return [...new Set(codes)].sort((a, b) => a - b);
  },
  print: (codes) => codes.map(typeMnemonic).join(' '),
  decode(wire) {
    const codes: number[] = [];
    let previous = -1;
    while (wire.left > 0) {
      const window = wire.u8();
      const bits = wire.take(wire.u8());
      if (window <= previous) wire.fail('the windows of the type bitmap are not in ascending order');
      if (bits.length === 0 || bits.length > 32)
        wire.fail('a window of the type bitmap is not 1 to 32 octets long');
      if (bits.at(-1) === 0) wire.fail('a window of the type bitmap ends in zero octets');
      previous = window;
      for (const [i, octet] of bits.entries()) {
        for (let bit = 0; bit < 8; bit++) if (octet & (0x80 >> bit)) codes.push(window * 256 + i * 8 + bit);
      }
    }
    return codes;
  },
  encode(codes) {
    const windows = new Map<number, Uint8Array>();
    for (const code of codes) {
      const bits = windows.get(code >> 8) ?? new Uint8Array(32);
      windows.set(code >> 8, bits);
      const octet = (code & 0xff) >> 3;
      bits[octet] = (bits[octet] as number) | (0x80 >> (code & 7));
    }
    const parts = [...windows].map(([window, bits]) => {
      const length = bits.findLastIndex((octet) => octet !== 0) + 1;
      return Uint8Array.of(window, length, ...bits.subarray(0, length));
    });
    return Buffer.concat(parts);
  },
};
