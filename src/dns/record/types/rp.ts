// The person responsible for a name: mailbox and where TXT about them is (RFC 1183 §2.2).

import { TYPE } from '../../type-codes.ts';
import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const RP = recordType(TYPE.RP, { mailbox: domainName, text: domainName }, { compression: 'received' });
