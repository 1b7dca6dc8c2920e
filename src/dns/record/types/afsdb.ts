// A server of an AFS cell or of a DCE cell's names (RFC 1183 §1; RFC 5864 uses SRV instead).

import { TYPE } from '../../type-codes.ts';
import { domainName, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const AFSDB = recordType(
  TYPE.AFSDB,
  { subtype: u16, hostname: domainName },
  { compression: 'received' },
);
