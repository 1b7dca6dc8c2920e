// An OpenPGP public key (RFC 7929 §2.3).

import { TYPE } from '../../type-codes.ts';
import { base64 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const OPENPGPKEY = recordType(TYPE.OPENPGPKEY, { publicKey: base64 });
