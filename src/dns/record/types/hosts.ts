// Addresses and descriptions of hosts.

import { TYPE } from '../../type-codes.ts';
import { characterString, ipv4Address, ipv6Address } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';

/** A host's IPv4 address (RFC 1035 §3.4.1). */
export const A = recordType(TYPE.A, { address: ipv4Address });

/** A host's IPv6 address (RFC 3596 §2). */
export const AAAA = recordType(TYPE.AAAA, { address: ipv6Address });

/** A host's processor and operating system (RFC 1035 §3.3.2); also the answer to ANY (RFC 8482). */
export const HINFO = recordType(TYPE.HINFO, { cpu: characterString, os: characterString });

/** Two hexadecimal digits per octet, separated by hyphens, printed in lower case as in RFC 7043 §3.2 and §4.2. */
function hyphenatedAddress(octets: number): Field<Uint8Array> {
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

/** A 48-bit address of a network interface, also known as a MAC address (RFC 7043 §3). */
export const EUI48 = recordType(TYPE.EUI48, { address: hyphenatedAddress(6) });

/** A 64-bit address of a network interface (RFC 7043 §4). */
export const EUI64 = recordType(TYPE.EUI64, { address: hyphenatedAddress(8) });
