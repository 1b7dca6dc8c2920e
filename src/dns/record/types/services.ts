// Record types that locate the services and contacts of a domain.

import { TYPE } from '../../type-codes.ts';
import { characterString, checked, domainName, text, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

/** A mail exchange (RFC 1035 §3.3.9). "No mail" is preference 0 and the root (RFC 7505). */
export const MX = recordType(TYPE.MX, { preference: u16, exchange: domainName }, { compression: 'sent' });

/** The host and port of a service (RFC 2782). */
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

/** A rule that rewrites a string into a name or URI (RFC 3403 §4.1). */
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

/** A URI for a service (RFC 7553 §4). The target fills the rest of the rdata and is not a character-string. */
export const URI = recordType(TYPE.URI, { priority: u16, weight: u16, target });

/** A server of an AFS cell, or of the names of a DCE cell (RFC 1183 §1; RFC 5864 uses SRV instead). */
export const AFSDB = recordType(
  TYPE.AFSDB,
  { subtype: u16, hostname: domainName },
  { compression: 'received' },
);

/** The person responsible for a name: a mailbox, and the name of TXT records with more information (RFC 1183 §2.2). */
export const RP = recordType(TYPE.RP, { mailbox: domainName, text: domainName }, { compression: 'received' });
