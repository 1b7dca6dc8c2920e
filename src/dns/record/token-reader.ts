// Supplies the tokens of one rdata to its fields, in order, and adds field, line and column to every error.

import { TextError } from '../errors.ts';
import type { Name } from '../name.ts';
import type { Token } from './token.ts';

export class TokenReader {
  /** The rdata field that is being read. Errors refer to it. */
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

  /** Returns the next token, quoted or not. Used by fields that are character-strings. */
  next(): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined) return this.fail('the field is missing');
    this.#at++;
    return token;
  }

  /** Returns the next token, which must not be quoted. Used by all other fields. */
  word(): Token {
    const token = this.next();
    if (token.quoted) this.fail(`"${token.text}" must not be in quotes`, token);
    return token;
  }

  /** Returns all remaining tokens, none of which may be quoted. */
  words(): Token[] {
    const words: Token[] = [];
    while (this.peek() !== undefined) words.push(this.word());
    return words;
  }

  /** Runs `parse` on a token. An error without a position gets the token's. */
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
    if (token !== undefined) this.fail(`"${token.text}" exceeds the number of fields in the record`, token);
  }

  /** Throws an error at `token`, or at the last one if no single token is at fault. */
  fail(message: string, token: Token | undefined = this.#tokens.at(-1)): never {
    throw new TextError(message, {
      ...(this.field !== undefined && { field: this.field }),
      ...(token !== undefined && { line: token.line, column: token.column }),
    });
  }
}
