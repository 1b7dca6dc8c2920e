// A network interface's address of 64 bits (RFC 7043 §4).

import { TYPE } from '../../type-codes.ts';
import { recordType } from '../record-type.ts';
import { hyphenatedAddress } from './eui48.ts';

export const EUI64 = recordType(TYPE.EUI64, { address: hyphenatedAddress(8) });
