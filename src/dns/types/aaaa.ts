// A host's IPv6 address (RFC 3596 §2).

import { ipv6Address } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { TYPE } from '../type-codes.ts';

export const AAAA = recordType(TYPE.AAAA, { address: ipv6Address });
