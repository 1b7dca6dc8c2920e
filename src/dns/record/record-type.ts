// The definition of a record type: text ⇄ value ⇄ wire. Most types are a sequence of fields. Errors refer to a field by
// its key.

import type { Name } from '../name.ts';
import type { TokenReader } from './token-reader.ts';
import type { WireReader } from './wire-reader.ts';

/** One field of rdata. `print` returns '' only for a field that may be missing in text (an empty type bitmap). */
export interface Field<V> {
  parse(tokens: TokenReader): V;
  print(value: V): string;
  decode(wire: WireReader): V;
  encode(value: V): Uint8Array;
  /** True if the value is a domain name. */
  readonly isName?: true;
  /** Width on the wire, if it is fixed. */
  readonly octets?: number;
}

/**
 * Whether names in the rdata may be compressed: `sent` for RFC 1035 types, `received` if RFC 3597 §4 requires receivers
 * to accept it, `never` in all newer types.
 */
type Compression = 'sent' | 'received' | 'never';

/** A compressible name in rdata. It starts `skip` octets after the start of the rdata or the end of the previous name. */
export interface NameField {
  readonly skip: number;
}

export interface RecordType<V = unknown> {
  readonly code: number;
  readonly compression: Compression;
  /** The names that may be sent compressed. */
  readonly nameFields: readonly NameField[];
  parse(tokens: TokenReader): V;
  print(value: V): string;
  decode(wire: WireReader): V;
  encode(value: V): Uint8Array;
  names(value: V): Name[];
}

type ValueOf<F extends Record<string, Field<unknown>>> = {
  -readonly [K in keyof F]: F[K] extends Field<infer V> ? V : never;
};

/** A rule for several fields: returns the first field at fault and why, or undefined. */
type Check<V> = (value: V) => { field: string; message: string } | undefined;

export function recordType<F extends Record<string, Field<unknown>>>(
  code: number,
  fields: F,
  options: { compression?: Compression; check?: Check<ValueOf<F>> } = {},
): RecordType<ValueOf<F>> {
  const { compression = 'never', check } = options;
  const entries = Object.entries(fields);
  const judge = (reader: TokenReader | WireReader, value: ValueOf<F>): ValueOf<F> => {
    const fault = check?.(value);
    if (fault === undefined) return value;
    reader.field = fault.field;
    return reader.fail(fault.message);
  };
  return {
    code,
    compression,
    nameFields: compression === 'sent' ? nameFieldsOf(entries.map(([, field]) => field)) : [],
    parse(tokens) {
      const value: Record<string, unknown> = {};
      for (const [key, field] of entries) {
        tokens.field = key;
        value[key] = field.parse(tokens);
      }
      tokens.finish();
      return judge(tokens, value as ValueOf<F>);
    },
    print(value) {
      let line = '';
      for (const [key, field] of entries) {
        const text = field.print(value[key]);
        if (text !== '') line += line === '' ? text : ` ${text}`;
      }
      return line;
    },
    decode(wire) {
      const value: Record<string, unknown> = {};
      for (const [key, field] of entries) {
        wire.field = key;
        value[key] = field.decode(wire);
      }
      wire.finish();
      return judge(wire, value as ValueOf<F>);
    },
    encode: (value) => Buffer.concat(entries.map(([key, field]) => field.encode(value[key]))),
    names: (value) => entries.filter(([, field]) => field.isName).map(([key]) => value[key] as Name),
  };
}

function nameFieldsOf(fields: readonly Field<unknown>[]): NameField[] {
  const names: NameField[] = [];
  let skip = 0;
  for (const field of fields) {
    if (!field.isName) {
      skip += field.octets ?? 0; // fields before a name have a fixed width in all RFC 1035 types
      continue;
    }
    names.push({ skip });
    skip = 0;
  }
  return names;
}
