// Texts (RFC 1035 §3.3.14, RFC 7208 §3.1).

import { TYPE } from '../../type-codes.ts';
import { characterStrings } from '../fields.ts';
import { recordType } from '../record-type.ts';

/** Free text (RFC 1035 §3.3.14): one or more character-strings, each of at most 255 octets. */
export const TXT = recordType(TYPE.TXT, { strings: characterStrings });

/**
 * A sender policy in its own type (RFC 4408 §3.1.1), with the rdata of TXT. Zone files still contain it, but mail
 * servers query only TXT (RFC 7208 §3.1).
 */
export const SPF = recordType(TYPE.SPF, { strings: characterStrings });
