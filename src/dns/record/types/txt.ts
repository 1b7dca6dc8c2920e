// Free text (RFC 1035 §3.3.14): one or more character-strings, each of at most 255 octets.

import { TYPE } from '../../type-codes.ts';
import { characterStrings } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const TXT = recordType(TYPE.TXT, { strings: characterStrings });
