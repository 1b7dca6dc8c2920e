// The DHCP client that a name belongs to (RFC 4701 §3.1).

import { TYPE } from '../../type-codes.ts';
import { base64 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const DHCID = recordType(TYPE.DHCID, { digest: base64 });
