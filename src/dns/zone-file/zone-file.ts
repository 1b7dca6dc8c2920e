// The result of reading a zone file, and the options for reading it.

import type { Name } from '../name.ts';
import type { ZoneFileProblem } from './zone-file-problems.ts';

export interface ZoneFileRecord {
  /** The owner's name, folded. */
  readonly owner: Name;
  readonly type: number;
  ttl: number;
  readonly rdata: Uint8Array;
  /** The included file that the record stands in; undefined in the file that was given. */
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
  /** The comment after the record, when the file is read line by line. */
  readonly comment?: string;
}

/** The content. If there are problems the file must be refused; `records` then holds the records that could be read. */
export interface ZoneFile {
  /** The zone's name, folded. */
  readonly origin: Name;
  readonly records: ZoneFileRecord[];
  readonly problems: ZoneFileProblem[];
}

export interface ZoneFileOptions {
  /** The zone's name; without it, the owner of the first SOA. */
  readonly origin?: Name | undefined;
  /** The file's name in problems. */
  readonly file?: string | undefined;
  /** The default TTL, as if the file began with $TTL. */
  readonly defaultTtlSeconds?: number | undefined;
  /** Reads what $INCLUDE names; without it $INCLUDE is a problem. */
  readonly include?: ((path: string) => string | { error: string }) | undefined;
  /** Set for files whose good lines count although others are bad. */
  readonly lineByLine?: LineByLine | undefined;
}

/**
 * What the lines before leave open is not guessed: below an owner that cannot be read a line without one is a problem,
 * below such an $ORIGIN every relative name is, and below such a $TTL every record without a TTL of its own.
 */
export interface LineByLine {
  readonly maxProblems: number;
  readonly maxRecords: number;
  /** Where neither the record nor $TTL nor a record before it says one. */
  readonly ttlSeconds: number;
  /** Mnemonics of types that other software has in its files, and the code that such a record gets; it holds one name. */
  readonly nameTypes: ReadonlyMap<string, number>;
}
