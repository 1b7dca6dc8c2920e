// Texts (RFC 1035 §3.3.14, RFC 7208 §3.1).

import { TYPE } from '../../type-codes.ts';
import { characterStrings } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const TXT = recordType(TYPE.TXT, { strings: characterStrings });

export const SPF = recordType(TYPE.SPF, { strings: characterStrings });
