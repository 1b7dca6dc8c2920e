// A rule that rewrites a string to a name or URI (RFC 3403 §4.1).

import { TYPE } from '../../type-codes.ts';
import { characterString, checked, domainName, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

const flags = checked(characterString, (octets) =>
  /^[A-Za-z0-9]*$/.test(Buffer.from(octets).toString('latin1'))
    ? undefined
    : 'flags are letters and digits only',
);

export const NAPTR = recordType(
  TYPE.NAPTR,
  {
    order: u16,
    preference: u16,
    flags,
    services: characterString,
    regexp: characterString,
    replacement: domainName,
  },
  { compression: 'received' },
);
