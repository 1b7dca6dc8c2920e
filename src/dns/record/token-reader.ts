// Hands the tokens of one rdata to its fields, in order, and puts field, line and column on every fault.

import { TextError } from '../errors.ts';
import type { Name } from '../name.ts';
import type { Token } from './token.ts';

export class TokenReader {
  /** The rdata field that is being read; faults are reported under it. */
  field: string | undefined;
  readonly origin: Name | undefined;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[], origin: Name | undefined) {
    this.#tokens = tokens;
    this.origin = origin;
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** The next token, be it quoted or not: for fields that are character-strings. */
  next(): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined) return this.fail('the field is missing');
    this.#at++;
    return token;
  }

  /** The text of the next token, which must not be quoted: for all other fields. */
  word(): Token {
    const token = this.next();
    if (token.quoted) this.fail(`"${token.text}" must not be in quotes`, token);
    return token;
  }

  /** Every token that is left, none of them quoted. */
  words(): Token[] {
    const words: Token[] = [];
    while (this.peek() !== undefined) words.push(this.word());
    return words;
  }

  /** Runs `parse` on a token; a fault that it throws without a place gets this one. */
  read<T>(token: Token, parse: (text: string) => T): T {
    try {
      return parse(token.text);
    } catch (error) {
      if (error instanceof TextError) this.fail(error.message, token);
      throw error;
    }
  }

  finish(): void {
    const token = this.peek();
    if (token !== undefined) this.fail(`"${token.text}" is more than the record has fields for`, token);
  }

  /** Throws at `token`, or at the last one if no single token is at fault. */
  fail(message: string, token: Token | undefined = this.#tokens.at(-1)): never {
    throw new TextError(message, {
      ...(this.field !== undefined && { field: this.field }),
      ...(token !== undefined && { line: token.line, column: token.column }),
    });
  }
}
