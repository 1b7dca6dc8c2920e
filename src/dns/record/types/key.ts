// A public key of a host or a user, such as signs dynamic updates (RFC 2535 §3.1, RFC 3445, RFC 2931). Keys of zones are
// DNSKEY records.

import { TYPE } from '../../type-codes.ts';
import { base64, u8, u16 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

const NO_KEY = 0xc000; // RFC 2535 §3.1.2

const keyOrNothing: Field<Uint8Array> = {
  ...base64,
  parse: (tokens) => (tokens.peek() === undefined ? new Uint8Array() : base64.parse(tokens)),
  decode: (wire) => wire.take(wire.left),
};

export const KEY = recordType(
  TYPE.KEY,
  { flags: u16, protocol: u8, algorithm: securityAlgorithm, publicKey: keyOrNothing },
  {
    check({ flags, publicKey }) {
      const hasNoKey = (flags & NO_KEY) === NO_KEY;
      if (hasNoKey === (publicKey.length === 0)) return undefined;
      const message = hasNoKey ? 'the flags say that the record has no key' : 'the field is missing';
      return { field: 'publicKey', message };
    },
  },
);
