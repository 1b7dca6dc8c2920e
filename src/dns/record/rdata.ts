// Rdata of every type: text, stored octets, and octets inside a message. Types without a file in types/ are opaque and
// only have the text form of RFC 3597.

import { WireError } from '../errors.ts';
import type { Name } from '../name.ts';
import { typeMnemonic } from '../type-codes.ts';
import { isGeneric, parseGeneric, printGeneric } from './generic-rdata.ts';
import { readOpaqueRdata } from './opaque-rdata.ts';
import type { NameField, RecordType } from './record-type.ts';
import { RECORD_TYPES } from './record-types.ts';
import type { Token } from './token.ts';
import { TokenReader } from './token-reader.ts';
import { WireReader } from './wire-reader.ts';

const MAX_RDATA_OCTETS = 0xffff;

/** Parses the tokens of one rdata, in the type's own form or as `\# length hex`. Throws TextError. */
export function parseRdata(type: number, tokens: readonly Token[], origin: Name | undefined): Uint8Array {
  const known = RECORD_TYPES.get(type);
  const reader = new TokenReader(tokens, origin);
  if (known === undefined) return parseGeneric(reader);
  if (isGeneric(reader)) return parseGenericOfKnownType(known, reader);
  const rdata = plain(known.encode(known.parse(reader)));
  if (rdata.length > MAX_RDATA_OCTETS)
    reader.fail(`the rdata has ${rdata.length} octets, more than 65535`, tokens[0]);
  return rdata;
}

function parseGenericOfKnownType(type: RecordType, tokens: TokenReader): Uint8Array {
  const first = tokens.peek();
  const rdata = parseGeneric(tokens);
  try {
    decode(type, new WireReader(rdata));
  } catch (error) {
    if (error instanceof WireError) tokens.fail(error.message, first);
    throw error;
  }
  return rdata;
}

/** Returns one line of presentation text. Throws WireError for rdata that `checkRdata` rejects. */
export function printRdata(type: number, rdata: Uint8Array): string {
  const known = RECORD_TYPES.get(type);
  return known === undefined ? printGeneric(rdata) : known.print(decode(known, new WireReader(rdata)));
}

/** Throws WireError unless the rdata is well formed for its type, with uncompressed names and without trailing octets. */
export function checkRdata(type: number, rdata: Uint8Array): void {
  if (rdata.length > MAX_RDATA_OCTETS) throw new WireError('the rdata is longer than 65535 octets');
  const known = RECORD_TYPES.get(type);
  if (known !== undefined) decode(known, new WireReader(rdata));
}

/** Returns a copy of the rdata at `offset` of a message, checked and with its names decompressed. Throws WireError. */
export function readRdata(type: number, message: Uint8Array, offset: number, length: number): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > message.length) {
    throw new WireError('the rdata exceeds the message');
  }
  const known = RECORD_TYPES.get(type);
  if (known === undefined) return readOpaqueRdata(type, message, offset, length);
  const decompress = known.compression !== 'never';
  const value = decode(known, new WireReader(message, offset, offset + length, decompress));
  return decompress ? plain(known.encode(value)) : Uint8Array.from(message.subarray(offset, offset + length));
}

/** Returns the positions of names that may be sent compressed. Only RFC 1035 types have any (RFC 3597 §4). */
export function nameFields(type: number): readonly NameField[] {
  return RECORD_TYPES.get(type)?.nameFields ?? [];
}

/** Returns all names in well-formed rdata, in order; none for unknown types. */
export function rdataNames(type: number, rdata: Uint8Array): Name[] {
  const known = RECORD_TYPES.get(type);
  return known === undefined ? [] : known.names(known.decode(new WireReader(rdata)));
}

function decode(type: RecordType, wire: WireReader): unknown {
  try {
    return type.decode(wire);
  } catch (error) {
    if (error instanceof WireError) throw new WireError(`${typeMnemonic(type.code)} ${error.message}`);
    throw error;
  }
}

/** Returns a Uint8Array with a buffer of its own: a small Buffer would keep the shared pool in memory. */
function plain(octets: Uint8Array): Uint8Array {
  return Uint8Array.from(octets);
}
