// A host's processor and system (RFC 1035 §3.3.2); also the answer to ANY (RFC 8482).

import { TYPE } from '../../type-codes.ts';
import { characterString } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const HINFO = recordType(TYPE.HINFO, { cpu: characterString, os: characterString });
