// A pointer to another name, mostly from an address to its host (RFC 1035 §3.3.12).

import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { TYPE } from '../type-codes.ts';

export const PTR = recordType(TYPE.PTR, { target: domainName }, { compression: 'sent' });
