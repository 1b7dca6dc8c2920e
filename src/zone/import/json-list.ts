// Reads a list inside JSON text element by element, with the position of each. JSON.parse reports no positions, and
// reads the whole text in one step, regardless of its size and depth.

import { TextError } from '../../dns/errors.ts';

export interface JsonElement {
  /** Undefined if the element is not valid JSON. */
  readonly value: unknown;
  readonly line: number;
  readonly column: number;
}

/** A record set of Route 53 has at most 32,000 characters, each of which may take six in JSON. */
const MAX_VALUE_CHARACTERS = 2 ** 20;
const MAX_DEPTH = 16;
/** Route 53 has at most 400 records in a set, each with one member. */
const MAX_MEMBERS = 2000;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

export class JsonList {
  /** The other members of the object that were read so far. */
  readonly members = new Map<string, unknown>();
  readonly #text: string;
  readonly #name: string;
  #inObject = false;
  #at: number;
  #line = 1;
  #lineStart: number;

  /** @param name the member that contains the list, if the text is an object */
  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0; // byte order mark
    this.#lineStart = this.#at;
  }

  /** True if the list is a member of an object. Otherwise the whole text is the list. */
  get isMember(): boolean {
    return this.#inObject;
  }

  /** Moves to the first element. Returns false if there is no such list. Throws TextError, like `next`. */
  open(): boolean {
    const first = this.#peek();
    this.#at++;
    this.#inObject = first === OPEN_OBJECT;
    return first === OPEN_ARRAY || (this.#inObject && this.#findList());
  }

  /** Returns undefined after the last element, once the text after the list has been read too. */
  next(): JsonElement | undefined {
    for (let code = this.#peek(); code === COMMA || code === CLOSE_ARRAY; code = this.#peek()) {
      this.#at++;
      if (code === COMMA || (this.#inObject && this.#findList())) continue;
      if (this.#skipBlanks() === this.#text.length) return undefined;
      throw this.#fault('the JSON ends before this text: import each file separately');
    }
    return this.#element();
  }

  /** Moves into the list. Returns false at the end of the object. */
  #findList(): boolean {
    for (let code = this.#peek(); code !== CLOSE_OBJECT; code = this.#peek()) {
      if (code === COMMA) {
        this.#at++;
        continue;
      }
      if (code !== QUOTE) throw this.#fault('a name in quotes is missing here');
      const name = String(this.#element().value);
      if (this.#peek() !== COLON) throw this.#fault('":" is missing here');
      this.#at++;
      if (this.#peek() === OPEN_ARRAY && name === this.#name) {
        this.#at++;
        return true;
      }
      this.members.set(name, this.#element().value);
    }
    this.#at++;
    return false;
  }

  #element(): JsonElement {
    const start = this.#skipBlanks();
    const place = { line: this.#line, column: start - this.#lineStart + 1 };
    if (!this.#skipValue()) throw new TextError('this value is too large for a record set', place);
    return { value: parsed(this.#text.slice(start, this.#at)), ...place };
  }

  /** Returns false if the value is too large. */
  #skipValue(): boolean {
    const limit = this.#at + MAX_VALUE_CHARACTERS;
    let depth = 0;
    let members = 0;
    do {
      const code = this.#peek();
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--;
      else if (code === COLON) members++;
      if (code === QUOTE) this.#skipString(limit);
      else if (isStructural(code)) this.#at++;
      else this.#skipWord(limit);
      if (depth > MAX_DEPTH || members > MAX_MEMBERS || this.#at > limit) return false;
    } while (depth > 0);
    return true;
  }

  #skipString(limit: number): void {
    for (let at = this.#at + 1; at < this.#text.length && at <= limit; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) {
        this.#at = at + 1;
        return;
      }
    }
    if (limit < this.#text.length) this.#at = limit + 1;
    else throw this.#endsEarly();
  }

  #skipWord(limit: number): void {
    while (this.#at <= limit && this.#at < this.#text.length) {
      const code = this.#text.charCodeAt(this.#at);
      if (isStructural(code) || code === QUOTE || code <= 32) return;
      this.#at++;
    }
  }

  /** Returns the code of the next character that is not blank. */
  #peek(): number {
    const at = this.#skipBlanks();
    if (at >= this.#text.length) throw this.#endsEarly();
    return this.#text.charCodeAt(at);
  }

  #skipBlanks(): number {
    for (; this.#text.charCodeAt(this.#at) <= 32; this.#at++) {
      if (this.#text[this.#at] !== '\n') continue;
      this.#line++;
      this.#lineStart = this.#at + 1;
    }
    return this.#at;
  }

  #endsEarly(): TextError {
    return this.#fault('the JSON ends too early: the file is not complete');
  }

  #fault(message: string): TextError {
    return new TextError(message, { line: this.#line, column: this.#at - this.#lineStart + 1 });
  }
}

function isStructural(code: number): boolean {
  return (
    code === COMMA ||
    code === COLON ||
    code === OPEN_ARRAY ||
    code === CLOSE_ARRAY ||
    code === OPEN_OBJECT ||
    code === CLOSE_OBJECT
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
