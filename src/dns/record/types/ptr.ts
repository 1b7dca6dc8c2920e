// A pointer to another name, mostly from an address to its host (RFC 1035 §3.3.12).

import { TYPE } from '../../type-codes.ts';
import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const PTR = recordType(TYPE.PTR, { target: domainName }, { compression: 'sent' });
