// The domains that a command is about: named one by one, or in a file with one name a line. A name that is none is told
// with its place and keeps no other from being worked on; a name given twice counts once.

import { readFileSync } from 'node:fs';
import type { Name } from '../../dns/name.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { Failure } from './failure.ts';
import { explainFileError, STANDARD_INPUT } from './find-zone-files.ts';
import { readStandardInput } from './read-standard-input.ts';

export interface WantedDomain {
  readonly kind: 'wanted';
  readonly text: string;
  /** `file:line`; undefined on the command line. */
  readonly place: string | undefined;
  readonly name: Name;
  readonly unicode: string;
  /** The words after the name on its line. */
  readonly words: readonly string[];
}

export interface BadDomainName {
  readonly kind: 'bad';
  readonly text: string;
  readonly place: string | undefined;
  readonly message: string;
}

interface NameOrder {
  readonly names: readonly string[];
  /** Undefined: none. `-`: standard input. */
  readonly file: string | undefined;
  /** How many words may follow the name on a line of the file; by default none. */
  readonly words?: number;
}

/** Returns names that are parsed while the caller iterates. It can do so only once. */
export async function collectDomainNames(order: NameOrder): Promise<Iterable<WantedDomain | BadDomainName>> {
  const { names, file, words = 0 } = order;
  if (names.length === 0 && file === undefined) {
    throw new Failure('usage', 'which domains? Name them, or give --file with one name a line');
  }
  return readDomains(writtenNames(names, file, file === undefined ? '' : await readNames(file)), words);
}

interface WrittenName {
  readonly text: string;
  readonly place: string | undefined;
}

function* readDomains(written: Iterable<WrittenName>, most: number): Generator<WantedDomain | BadDomainName> {
  const seen = new Set<string>();
  for (const { text: line, place } of written) {
    const [text = '', ...words] = most > 0 && place !== undefined ? line.split(/\s+/) : [line];
    const bad = (message: string) => ({ kind: 'bad', text, place, message }) as const;
    const parsed = parseDomainName(text);
    if (words.length > most) yield bad(`at most ${most} words may follow the name`);
    else if (words.some((word) => /\p{Cc}/u.test(word))) yield bad('the line has a control character');
    else if (parsed.kind === 'problem') yield bad(parsed.message);
    else {
      const { name, unicode } = parsed;
      const key = [name, ...words].join(' ');
      if (!seen.has(key)) yield { kind: 'wanted', text, place, name, unicode, words };
      seen.add(key);
    }
  }
}

async function readNames(file: string): Promise<string> {
  if (file === STANDARD_INPUT) return await readStandardInput();
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (typeof (error as { code?: unknown }).code !== 'string') throw error;
    throw new Failure('file', `${file}: ${explainFileError(error)}`, { cause: error });
  }
}

/** Yields the names that were written. In a file `#` begins a comment, and blank lines count as lines. */
function* writtenNames(
  names: readonly string[],
  file: string | undefined,
  content: string,
): Generator<WrittenName> {
  for (const text of names) yield { text, place: undefined };
  for (const [i, line] of content
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    const text = line.replace(/(^|\s)#.*/, '').trim();
    if (text !== '') yield { text, place: `${file}:${i + 1}` };
  }
}
