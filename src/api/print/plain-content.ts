// Recognizes records that are printed directly from their columns: their destination needs no escaping in JSON and zone
// files, and their content in a zone file follows from it.

import type { ApiType } from '../../zone/records/customer-types.ts';
import { type Characters, charactersOf, type PartOfText } from './octet-writer.ts';

interface PlainContent {
  /** The characters of plain destinations, which have at least one. */
  readonly allowed: Characters;
  readonly maxLength: number;
  /** The characters that the content in a zone file adds to the destination: a final dot, if it is missing, or quotes. */
  readonly adds: 'dot' | 'quotes' | 'nothing';
}

const ADDRESS: PlainContent = { allowed: charactersOf(/[0-9a-f.:]/), maxLength: 39, adds: 'nothing' };
const HOST: PlainContent = { allowed: charactersOf(/[A-Za-z0-9_./-]/), maxLength: 255, adds: 'dot' };
/** RFC 1035 §3.3: longer text is split into several strings. */
const TEXT: PlainContent = { allowed: charactersOf(/[ !#-[\]-~]/), maxLength: 255, adds: 'quotes' };

/** The contents of the other types are always decoded. */
export const PLAIN_CONTENTS: ReadonlyMap<string, PlainContent> = new Map<ApiType, PlainContent>([
  ['A', ADDRESS],
  ['AAAA', ADDRESS],
  ['CNAME', HOST],
  ['NS', HOST],
  ['PTR', HOST],
  ['TXT', TEXT],
]);

const DOT = '.'.charCodeAt(0);

/** Returns true if the content ends in a dot that the destination does not have. */
export function lacksDot({ adds }: PlainContent, { text, to }: PartOfText): boolean {
  return adds === 'dot' && text.charCodeAt(to - 1) !== DOT;
}
