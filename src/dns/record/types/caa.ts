// Which authorities may issue certificates (RFC 8659 §4). The value fills the rest of the rdata.

import { TYPE } from '../../type-codes.ts';
import { characterString, checked, text, u8 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';

const octets = checked(characterString, (tag) =>
  /^[A-Za-z0-9]+$/.test(Buffer.from(tag).toString('latin1'))
    ? undefined
    : 'a tag is one or more ASCII letters and digits',
);

/** Printed without quotes, which RFC 8659 §4.1.1 does not have; its case is kept, though it is matched without. */
const tag: Field<Uint8Array> = { ...octets, print: (value) => Buffer.from(value).toString('latin1') };

export const CAA = recordType(TYPE.CAA, { flags: u8, tag, value: text });
