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
  /** The included file that contains the record. Undefined for the initial file. */
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
  /** The comment after the record, if the file is read line by line. */
  readonly comment?: string;
}

/** A record with the text that it was read from. */
export interface ReadLine {
  readonly record: ZoneFileRecord;
  /** The type of the rdata in `words`. It is CNAME for the types of `LineByLine.nameTypes`. */
  readonly type: number;
  /** Undefined if the record has the owner of the previous line. */
  readonly owner: Token | undefined;
  /** The words of the rdata. */
  readonly words: readonly Token[];
  readonly comment: string | undefined;
  readonly origin: Name | undefined;
  /** The word of the $ORIGIN that set the origin. Undefined if none did. */
  readonly originWord: Token | undefined;
}

/** A record that is valid for the software that wrote the file, but cannot be part of the zone. */
export interface LeftOutRecord {
  readonly owner: Name;
  /** The mnemonic, in upper case. */
  readonly type: string;
  readonly reason: string;
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** The content. If there are problems the file must be rejected; `records` then contains the records that could be read. */
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
  /** The zone's name. Defaults to the owner of the first SOA. */
  readonly origin?: Name | undefined;
  /** The file name used in problems. */
  readonly file?: string | undefined;
  /** The default TTL, as if the file began with $TTL. */
  readonly defaultTtlSeconds?: number | undefined;
  /** Reads the file that $INCLUDE names. Without it, $INCLUDE is a problem. */
  readonly include?: ((path: string) => string | { error: string }) | undefined;
  /** Called with each record of the text. Records of $GENERATE are not reported. */
  readonly onRecord?: ((line: ReadLine) => void) | undefined;
  /**
   * If true, hosts of two or more labels are full names even without a final dot, and so are owners that end in the
   * zone's name. Some software writes such files.
   */
  readonly addDots?: boolean | undefined;
  /** Set for files whose good lines are used even if others are bad. */
  readonly lineByLine?: LineByLine | undefined;
}

/**
 * Values that earlier lines leave undefined are not guessed. After an invalid owner, a line without one is a problem.
 * After an invalid $ORIGIN, every relative name is, and after an invalid $TTL, every record without a TTL of its own.
 */
export interface LineByLine {
  readonly maxProblems: number;
  readonly maxRecords: number;
  /** Used if neither the record, nor $TTL, nor an earlier record specifies one. */
  readonly ttlSeconds: number;
  /** Mnemonics of types in files of other software, and the code used for such records, whose rdata is one name. */
  readonly nameTypes: ReadonlyMap<string, number>;
}
