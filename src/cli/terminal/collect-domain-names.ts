// The domains of a command: given as arguments, or in a file with one name per line. An invalid name is reported with its
// position, and the other names are still processed. Duplicates are ignored.

import { readFileSync } from 'node:fs';
import type { Name } from '../../dns/name.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { Failure } from './failure.ts';
import { explainFileError, STANDARD_INPUT } from './find-zone-files.ts';
import { readStandardInput } from './read-standard-input.ts';

export interface WantedDomain {
  readonly kind: 'wanted';
  readonly text: string;
  /** `file:line`, or undefined for an argument. */
  readonly place: string | undefined;
  readonly name: Name;
  readonly unicode: string;
  /** Words after the name on its line. */
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
  /** Undefined if there is no file. `-` is standard input. */
  readonly file: string | undefined;
  /** Maximum number of words after a name in the file, by default none. */
  readonly words?: number;
}

/** Returns names that are parsed while the caller iterates, which it can do only once. */
export async function collectDomainNames(order: NameOrder): Promise<Iterable<WantedDomain | BadDomainName>> {
  const { names, file, words = 0 } = order;
  if (names.length === 0 && file === undefined) {
    throw new Failure('usage', 'no domains given: name them, or pass --file with one name per line');
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

/** Yields the names as written. In a file, `#` starts a comment, and blank lines count in line numbers. */
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
