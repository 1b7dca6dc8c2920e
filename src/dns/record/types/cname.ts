// The canonical name behind an alias (RFC 1035 §3.3.1).

import { TYPE } from '../../type-codes.ts';
import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const CNAME = recordType(TYPE.CNAME, { target: domainName }, { compression: 'sent' });
