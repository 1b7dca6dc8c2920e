// Free text (RFC 1035 §3.3.14): one or more character-strings, each of at most 255 octets.

import { characterStrings } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { TYPE } from '../type-codes.ts';

export const TXT = recordType(TYPE.TXT, { strings: characterStrings });
