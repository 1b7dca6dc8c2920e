// Validates customers' regular expressions: RE2 syntax, which is matched in linear time. Their size is measured before
// compilation, so that a call cannot make us compile a program of a million instructions.

import { RE2JS, RE2JSSyntaxException } from 're2js';
import { measureRegex } from './measure-regex.ts';

export const MAX_REGEX_CHARACTERS = 1024;
/** Compiling an expression of this size takes about ten milliseconds. */
const MAX_SIZE = 12_000;

type JudgedRegex =
  | {
      readonly kind: 'regex';
      /** Number of capture groups, which `$1` etc. refer to. */
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
    return {
      kind: 'problem',
      message: 'the regular expression has too many repetitions: its program would be too large',
    };
  try {
    return { kind: 'regex', groups: RE2JS.compile(text).groupCount(), size };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { kind: 'problem', message: explain(error as unknown as SyntaxFault, text) };
  }
}

interface SyntaxFault {
  readonly error: string;
  /** The invalid part of the text, if the parser reports it. */
  readonly input: string | null;
}

function explain({ error, input }: SyntaxFault, text: string): string {
  const at = input === null || input === '' ? -1 : text.lastIndexOf(input);
  const place = at < 0 ? '' : ` at character ${at + 1}: ${input}`;
  return `not RE2 syntax: ${error}${place}`;
}

/**
 * True if a backtracking engine may run a regular expression that `judgeRegex` accepts: without nested repetition, every
 * text takes at most polynomial time, and the meaning in Perl's syntax is the same.
 */
export function isSafeForBacktracking(text: string): boolean {
  const { isNested, isPortable } = measureRegex(text);
  return !isNested && isPortable;
}
