// Which record sets of a child zone its parent shall copy (RFC 7477 §2).

import { TYPE } from '../../type-codes.ts';
import { u16, u32 } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { typeBitmap } from '../type-bitmap.ts';

export const CSYNC = recordType(TYPE.CSYNC, {
  serial: u32,
  flags: u16, // 1 immediate, 2 soaminimum; parents refuse what they do not know (RFC 7477 §3.1)
  types: typeBitmap,
});
