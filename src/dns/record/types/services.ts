// Where services and people of a domain are found.

import { TYPE } from '../../type-codes.ts';
import { characterString, checked, domainName, text, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const MX = recordType(TYPE.MX, { preference: u16, exchange: domainName }, { compression: 'sent' });

export const SRV = recordType(
  TYPE.SRV,
  { priority: u16, weight: u16, port: u16, target: domainName },
  { compression: 'received' },
);

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

const target = checked(text, (octets) => (octets.length === 0 ? 'the target is empty' : undefined)); // RFC 7553 §4.4

export const URI = recordType(TYPE.URI, { priority: u16, weight: u16, target });

export const AFSDB = recordType(
  TYPE.AFSDB,
  { subtype: u16, hostname: domainName },
  { compression: 'received' },
);

export const RP = recordType(TYPE.RP, { mailbox: domainName, text: domainName }, { compression: 'received' });
