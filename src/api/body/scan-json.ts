// Counts the contents of a JSON body while it arrives, in constant memory. A body with too many values, too much
// nesting or endless numbers is rejected before `JSON.parse` reads it. Only limits are checked: text that is not JSON
// passes.

export interface JsonBounds {
  /** Number of objects, arrays, strings, numbers and literals. Names of members do not count. */
  readonly values: number;
}

const MAX_DEPTH = 64;
/** Bounds the cost of many names with equal hashes. The largest object of any call has about fifty members. */
const MAX_MEMBERS = 256;
const MAX_KEY_BYTES = 1024;
/** Maximum length of a number, or of other text in place of a number. */
const MAX_NUMBER_BYTES = 256;

const TAB = 9;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

type Inside = 'nothing' | 'word' | 'text' | 'escape';

export class JsonScan {
  readonly #bounds: JsonBounds;
  readonly #members = new Int32Array(MAX_DEPTH + 1);
  readonly #isObject = new Uint8Array(MAX_DEPTH + 1);
  #values = 0;
  #depth = 0;
  #inside: Inside = 'nothing';
  /** Bytes of the word or name that is being read. */
  #bytes = 0;
  #isKey = false;
  #expectsKey = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Returns the limit that the body exceeds, as text for the caller. Returns undefined while it exceeds none. */
  push(chunk: Uint8Array): string | undefined {
    for (let at = 0; at < chunk.length; ) {
      if (this.#inside === 'text' || this.#inside === 'escape') {
        at = this.#skipText(chunk, at);
        if (this.#isKey && this.#bytes > MAX_KEY_BYTES) {
          return `the body has a name of more than ${MAX_KEY_BYTES} bytes`;
        }
        continue;
      }
      const breach = this.#readByte(chunk[at++] as number);
      if (breach !== undefined) return breach;
    }
    return undefined;
  }

  /** Skips to the end of the text, or of the chunk. */
  #skipText(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#inside === 'escape') {
      at++;
      this.#inside = 'text';
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#inside = 'nothing';
        at++;
        break;
      }
      if (byte === BACKSLASH) {
        if (++at === chunk.length) {
          this.#inside = 'escape';
          break;
        }
      }
    }
    this.#bytes += at - from;
    return at;
  }

  #readByte(byte: number): string | undefined {
    switch (byte) {
      case QUOTE:
        this.#inside = 'text';
        this.#bytes = 0;
        this.#isKey = this.#expectsKey;
        this.#expectsKey = false;
        return this.#isKey ? this.#addMember() : this.#addValue();
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        return this.#open(byte === OPEN_OBJECT);
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#inside = 'nothing';
        if (this.#depth > 0) this.#depth--;
        this.#expectsKey = false;
        return undefined;
      case COMMA:
        this.#inside = 'nothing';
        this.#expectsKey = this.#isObject[this.#depth] === 1;
        return undefined;
      case COLON:
        this.#inside = 'nothing';
        this.#expectsKey = false;
        return undefined;
      default:
        return this.#readWord(byte);
    }
  }

  #readWord(byte: number): string | undefined {
    if (byte === SPACE || (byte >= TAB && byte < SPACE)) {
      this.#inside = 'nothing';
      return undefined;
    }
    if (this.#inside === 'word') {
      if (++this.#bytes <= MAX_NUMBER_BYTES) return undefined;
      return `the body has a number of more than ${MAX_NUMBER_BYTES} bytes`;
    }
    this.#inside = 'word';
    this.#bytes = 1;
    return this.#addValue();
  }

  #open(isObject: boolean): string | undefined {
    this.#inside = 'nothing';
    if (this.#depth >= MAX_DEPTH) return `the body is nested deeper than ${MAX_DEPTH} levels`;
    this.#depth++;
    this.#members[this.#depth] = 0;
    this.#isObject[this.#depth] = isObject ? 1 : 0;
    this.#expectsKey = isObject;
    return this.#addValue();
  }

  #addValue(): string | undefined {
    if (++this.#values <= this.#bounds.values) return undefined;
    return `the body has more than ${this.#bounds.values} values`;
  }

  #addMember(): string | undefined {
    const members = (this.#members[this.#depth] as number) + 1;
    this.#members[this.#depth] = members;
    return members <= MAX_MEMBERS ? undefined : `an object of the body has more than ${MAX_MEMBERS} members`;
  }
}
