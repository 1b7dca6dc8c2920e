// A host's IPv6 address (RFC 3596 §2).

import { TYPE } from '../../type-codes.ts';
import { ipv6Address } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const AAAA = recordType(TYPE.AAAA, { address: ipv6Address });
