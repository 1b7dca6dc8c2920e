// Reads a list of names from words/*.txt once, when the module that uses it is loaded:
//
//   # a comment
//   [head of a group]
//   field: words with spaces between them
//     more words of the field, behind two spaces
//
// Lines of another form, unknown fields and duplicate words are rejected, so that no name is lost unnoticed.

import { readFileSync } from 'node:fs';

export type WordGroup<F extends string> = {
  readonly head: string;
} & Readonly<Record<F, readonly string[]>>;

const HEAD = /^\[([^[\]]+)\]$/;
const LINE = /^(?:([a-z]+):|( )) (\S+(?: \S+)*)$/;
/** Labels separated by dots. % represents a number. */
const WORD = /^[a-z0-9_%-]+(\.[a-z0-9_%-]+)*$/;

/** Returns the groups of `words/FILE.txt` in order. Every group has every field except the `optional` ones. */
export function readWordGroups<F extends string, O extends string = never>(
  file: string,
  fields: readonly F[],
  optional: readonly O[] = [],
): readonly WordGroup<F | O>[] {
  const text = readFileSync(new URL(`./words/${file}.txt`, import.meta.url), 'utf8');
  return parseWordGroups(text, fields, optional);
}

/** Throws RangeError with the number of the line. */
function parseWordGroups<F extends string, O extends string = never>(
  text: string,
  fields: readonly F[],
  optional: readonly O[] = [],
): readonly WordGroup<F | O>[] {
  const groups = new Map<string, Map<string, Set<string>>>();
  let group: Map<string, Set<string>> | undefined;
  let words: Set<string> | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const refuse = (why: string) => new RangeError(`line ${index + 1} of a word list ${why}: "${line}"`);
    if (line === '' || line.startsWith('#')) continue;
    const head = HEAD.exec(line)?.[1];
    if (head !== undefined) {
      if (groups.has(head)) throw refuse('repeats a group');
      words = undefined;
      group = new Map();
      groups.set(head, group);
      continue;
    }
    const [, field, , list] = LINE.exec(line) ?? [];
    if (list === undefined || group === undefined) throw refuse('belongs to no group');
    if (field !== undefined) {
      if (![...fields, ...optional].some((each) => each === field) || group.has(field)) {
        throw refuse('has an unknown or repeated field');
      }
      words = new Set();
      group.set(field, words);
    }
    if (words === undefined) throw refuse('belongs to no field');
    for (const word of list.split(' ')) {
      if (!WORD.test(word) || words.has(word))
        throw refuse(`has "${word}", which is not a name or is repeated`);
      words.add(word);
    }
  }
  return [...groups].map(([head, lists]) => {
    const missing = fields.find((field) => !lists.has(field));
    if (missing !== undefined) throw new RangeError(`the group "${head}" of a word list has no ${missing}`);
    const all = [...fields, ...optional].map((field) => [field, [...(lists.get(field) ?? [])]]);
    return { head, ...Object.fromEntries(all) };
  });
}

/** Returns the group with this head. */
export function groupOf<F extends string>(groups: readonly WordGroup<F>[], head: string): WordGroup<F> {
  const found = groups.find((group) => group.head === head);
  if (found === undefined) throw new RangeError(`a word list has no group "${head}"`);
  return found;
}
