// What a TLS server's certificate must match (RFC 6698 §2.1).

import { TYPE } from '../../type-codes.ts';
import { hex, u8 } from '../fields.ts';
import { recordType } from '../record-type.ts';

/** SMIMEA has the same rdata (RFC 8162 §2). */
export const certificateAssociation = { usage: u8, selector: u8, matchingType: u8, association: hex };

export const TLSA = recordType(TYPE.TLSA, certificateAssociation);
