// A mail exchange (RFC 1035 §3.3.9). "No mail" is preference 0 and the root (RFC 7505).

import { TYPE } from '../../type-codes.ts';
import { domainName, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const MX = recordType(TYPE.MX, { preference: u16, exchange: domainName }, { compression: 'sent' });
