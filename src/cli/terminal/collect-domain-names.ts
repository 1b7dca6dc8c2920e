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
}

export async function collectDomainNames(order: NameOrder): Promise<(WantedDomain | BadDomainName)[]> {
  const { names, file } = order;
  if (names.length === 0 && file === undefined) {
    throw new Failure('usage', 'which domains? Name them, or give --file with one name a line');
  }
  const written = [
    ...names.map((text) => ({ text, place: undefined })),
    ...(file === undefined ? [] : namesIn(file, await readNames(file))),
  ];
  const seen = new Set<Name>();
  return written.flatMap(({ text, place }): (WantedDomain | BadDomainName)[] => {
    const parsed = parseDomainName(text);
    if (parsed.kind === 'problem') return [{ kind: 'bad', text, place, message: parsed.message }];
    if (seen.has(parsed.name)) return [];
    seen.add(parsed.name);
    return [{ kind: 'wanted', text, place, name: parsed.name, unicode: parsed.unicode }];
  });
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

/** Blank lines count, and `#` begins a comment. */
function namesIn(file: string, content: string): { text: string; place: string }[] {
  return content
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, i) => ({ text: line.replace(/(^|\s)#.*/, '').trim(), place: `${file}:${i + 1}` }))
    .filter(({ text }) => text !== '');
}
