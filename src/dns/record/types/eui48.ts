// A network interface's address of 48 bits, also known as a MAC address (RFC 7043 §3).

import { TYPE } from '../../type-codes.ts';
import type { Field } from '../record-type.ts';
import { recordType } from '../record-type.ts';

/** Two hexadecimal digits for each octet, hyphens between them, printed in lower case as in RFC 7043 §3.2 and §4.2. */
export function hyphenatedAddress(octets: number): Field<Uint8Array> {
  const form = new RegExp(`^[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){${octets - 1}}$`);
  return {
    octets,
    parse(tokens) {
      const token = tokens.word();
      if (form.test(token.text)) return Uint8Array.from(Buffer.from(token.text.replaceAll('-', ''), 'hex'));
      const wanted = `${octets} pairs of hexadecimal digits with hyphens between them`;
      return tokens.fail(`"${token.text}" is not ${wanted}`, token);
    },
    print: (value) => Array.from(value, (octet) => octet.toString(16).padStart(2, '0')).join('-'),
    decode: (wire) => wire.take(octets),
    encode: (value) => value,
  };
}

export const EUI48 = recordType(TYPE.EUI48, { address: hyphenatedAddress(6) });
