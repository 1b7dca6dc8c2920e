// A nameserver of a zone (RFC 1035 §3.3.11).

import { TYPE } from '../../type-codes.ts';
import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const NS = recordType(TYPE.NS, { nameserver: domainName }, { compression: 'sent' });
