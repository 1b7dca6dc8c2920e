// A zone file being read: the state shared by the readers of its lines.

import { TextError } from '../errors.ts';
import { type Name, parseName } from '../name.ts';
import type { Token } from '../record/token.ts';
import type { FileChain } from './included-files.ts';
import type { ZoneFileProblems } from './zone-file-problems.ts';

const MAX_NAME_CHARACTERS = 1100; // 255 octets, each written as \DDD, and dots

/** $INCLUDE restores origin and owner after the file (RFC 1035 §5.1), but not $TTL, as in BIND. */
export interface OpenFile extends FileChain {
  readonly problems: ZoneFileProblems;
  origin: Name | undefined;
  /** The word of the $ORIGIN that set the origin. */
  originWord: Token | undefined;
  owner: Name | undefined;
}

/** Throws TextError. */
export function readName(token: Token, origin: Name | undefined): Name {
  if (token.quoted) throw new TextError('a name must not be in quotes');
  if (token.text.length > MAX_NAME_CHARACTERS) throw new TextError('a name is longer than 255 octets');
  return parseName(token.text, origin);
}

/** Returns true if a directive has a valid number of words. Otherwise adds a problem. */
export function hasWords(
  min: number,
  max: number,
  words: readonly Token[],
  first: Token,
  { problems }: OpenFile,
): boolean {
  const extra = words[max];
  if (words.length < min) problems.add(words.at(-1) ?? first, `${first.text} requires another word`);
  else if (extra !== undefined) problems.add(extra, `${first.text} does not take "${extra.text}"`);
  return words.length >= min && extra === undefined;
}
