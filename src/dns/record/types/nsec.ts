// The next name of a signed zone and the types at this one (RFC 4034 §4).

import { TYPE } from '../../type-codes.ts';
import { checked, domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { typeBitmap } from '../type-bitmap.ts';

// The name has an NSEC record at least (RFC 4034 §4.1.2): an empty set can only be a mistake.
const types = checked(typeBitmap, (codes) => (codes.length === 0 ? 'the type bitmap is empty' : undefined));

export const NSEC = recordType(TYPE.NSEC, { nextName: domainName, types });
