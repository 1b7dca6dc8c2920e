// Judges regular expressions of customers: RE2 syntax, whose time is linear in the text that is searched. One is measured
// before it is compiled, so that a call cannot make us compile a program of a million instructions.

import { RE2JS, RE2JSSyntaxException } from 're2js';
import { measureRegex } from './measure-regex.ts';

export const MAX_REGEX_CHARACTERS = 1024;
/** Compiling so many takes some ten milliseconds. */
const MAX_SIZE = 12_000;

type JudgedRegex =
  | {
      readonly kind: 'regex';
      /** The capture groups, which `$1` and on refer to. */
      readonly groups: number;
      readonly size: number;
    }
  | { readonly kind: 'problem'; readonly message: string };

export function judgeRegex(text: string): JudgedRegex {
  if (text === '') return { kind: 'problem', message: 'a regular expression must not be empty' };
  if (text.length > MAX_REGEX_CHARACTERS)
    return { kind: 'problem', message: `expected at most ${MAX_REGEX_CHARACTERS} characters` };
  const { size } = measureRegex(text);
  if (size > MAX_SIZE)
    return { kind: 'problem', message: 'the regular expression repeats too much: it would become too large' };
  try {
    return { kind: 'regex', groups: RE2JS.compile(text).groupCount(), size };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { kind: 'problem', message: explain(error as unknown as SyntaxFault, text) };
  }
}

interface SyntaxFault {
  readonly error: string;
  /** The part of the text that is wrong, where the parser knows it. */
  readonly input: string | null;
}

function explain({ error, input }: SyntaxFault, text: string): string {
  const at = input === null || input === '' ? -1 : text.lastIndexOf(input);
  const place = at < 0 ? '' : ` at character ${at + 1}: ${input}`;
  return `not RE2 syntax: ${error}${place}`;
}

/**
 * Whether an engine that backtracks may take a regular expression that `judgeRegex` accepts: nothing repeats within what
 * repeats, so no text takes it more than polynomial time, and it means the same in Perl's syntax.
 */
export function isSafeForBacktracking(text: string): boolean {
  const { isNested, isPortable } = measureRegex(text);
  return !isNested && isPortable;
}
