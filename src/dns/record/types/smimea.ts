// What a mail sender's certificate must match: TLSA for S/MIME (RFC 8162 §2).

import { TYPE } from '../../type-codes.ts';
import { recordType } from '../record-type.ts';
import { certificateAssociation } from './tlsa.ts';

export const SMIMEA = recordType(TYPE.SMIMEA, certificateAssociation);
