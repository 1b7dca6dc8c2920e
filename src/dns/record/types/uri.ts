// A URI for a service (RFC 7553 §4). The target fills the rest of the rdata and is not a character-string.

import { TYPE } from '../../type-codes.ts';
import { checked, text, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

const target = checked(text, (octets) => (octets.length === 0 ? 'the target is empty' : undefined)); // RFC 7553 §4.4

export const URI = recordType(TYPE.URI, { priority: u16, weight: u16, target });
