// The result of reading a zone file, and the options for reading it.

import type { Name } from '../name.ts';
import type { Token } from '../record/token.ts';
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

/** A record with the text that it was read from. */
export interface ReadLine {
  readonly record: ZoneFileRecord;
  /** The type that `words` were read as. It is CNAME for the types of `LineByLine.nameTypes`. */
  readonly type: number;
  /** Undefined if the record has the owner of the line before it. */
  readonly owner: Token | undefined;
  /** The words of the rdata. */
  readonly words: readonly Token[];
  readonly comment: string | undefined;
  readonly origin: Name | undefined;
  /** The word of the $ORIGIN that set the origin. Undefined if none did. */
  readonly originWord: Token | undefined;
}

/** A record that is valid for the software that wrote the file, but cannot be in the zone. */
export interface LeftOutRecord {
  readonly owner: Name;
  /** The mnemonic, in upper case. */
  readonly type: string;
  readonly reason: string;
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** The content. If there are problems the file must be refused; `records` then holds the records that could be read. */
export interface ZoneFile {
  /** The zone's name, folded. */
  readonly origin: Name;
  readonly records: ZoneFileRecord[];
  readonly problems: ZoneFileProblem[];
  readonly leftOut: readonly LeftOutRecord[];
  /** The line of the `$ORIGIN .` because of which the SOA is at the root. Undefined if there is none. */
  readonly rootOriginLine: number | undefined;
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
  /** Called with each record of the text. Records of $GENERATE are not reported. */
  readonly onRecord?: ((line: ReadLine) => void) | undefined;
  /**
   * If true, hosts of two or more labels are full names also without a final dot, and so are owners that end in the zone's
   * name. Some software writes such files.
   */
  readonly addDots?: boolean | undefined;
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
