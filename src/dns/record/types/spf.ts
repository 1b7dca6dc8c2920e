// A sender policy in a type of its own (RFC 4408 §3.1.1), with the rdata of TXT. Zone files have it still, and mail servers
// look for TXT alone (RFC 7208 §3.1).

import { TYPE } from '../../type-codes.ts';
import { characterStrings } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const SPF = recordType(TYPE.SPF, { strings: characterStrings });
