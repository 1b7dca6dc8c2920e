// A host's IPv4 address (RFC 1035 §3.4.1).

import { TYPE } from '../../type-codes.ts';
import { ipv4Address } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const A = recordType(TYPE.A, { address: ipv4Address });
