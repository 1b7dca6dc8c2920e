// @ts-check
// The text of a regular expression, read from left to right, and its classes of characters.

import { Unwritable } from './quote.mjs';

export class RegexText {
  /** @param {string} text */
  constructor(text) {
    this.characters = [...text];
    this.at = 0;
  }

  get isAtEnd() {
    return this.at >= this.characters.length;
  }

  /** @param {string} text */
  take(text) {
    const found = this.characters.slice(this.at, this.at + text.length).join('') === text;
    if (found) this.at += text.length;
    return found;
  }

  next() {
    const character = this.characters[this.at++];
    if (character === undefined) throw new Unwritable('a regular expression that ends too early');
    return character;
  }

  readHex() {
    const [all, long, short] =
      /^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(
        this.characters.slice(this.at, this.at + 8).join(''),
      ) ?? [];
    if (all === undefined) throw new Unwritable('a regular expression with a wrong \\x');
    this.at += all.length;
    return Number.parseInt(long ?? short ?? '', 16);
  }

  readClass() {
    const isNegated = this.take('^');
    let inner = '';
    let isFirst = true;
    while (isFirst || !this.take(']')) {
      isFirst = false;
      inner += this.readClassItem();
    }
    return isNegated ? `[^${inner}\\n]` : `[${inner}]`;
  }

  readClassItem() {
    if (this.take('[:')) {
      const [all, name] = /^(\w+):\]/.exec(this.characters.slice(this.at, this.at + 12).join('')) ?? [];
      const known = name === undefined ? undefined : NAMED[name];
      if (all === undefined || known === undefined) throw new Unwritable('a class that nginx does not have');
      this.at += all.length;
      return known;
    }
    const low = this.readClassEnd();
    if (typeof low === 'string') return low;
    const [dash, after] = this.characters.slice(this.at, this.at + 2);
    if (dash !== '-' || after === ']' || after === undefined) return hex(low);
    this.at++;
    const high = this.readClassEnd();
    if (typeof high === 'string' || high < low) throw new Unwritable('a class with a wrong range');
    return `${hex(low)}-${hex(high)}`;
  }

  /** @returns {number | string} a character, or a class within the class */
  readClassEnd() {
    const character = this.next();
    if (character !== '\\') return codeOf(character);
    const escaped = this.next();
    const known = IN_CLASS[escaped];
    if (known !== undefined) return known;
    if (escaped === 'x') return this.readHex();
    if (/[^A-Za-z0-9]/.test(escaped)) return codeOf(escaped);
    throw new Unwritable(`a class with \\${escaped}`);
  }
}

/** @type {Record<string, string>} */
const IN_CLASS = { d: '0-9', w: '0-9A-Za-z_', s: String.raw`\x20\t\f\r` };

/** @type {Record<string, string>} */
const NAMED = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** @param {string} character */
function codeOf(character) {
  return character.codePointAt(0) ?? 0;
}

/** One octet: paths are matched octet by octet.
 * @param {number} code
 */
export function hex(code) {
  if (code > 0x7e || code < 0x20) throw new Unwritable('a class with characters outside of ASCII');
  return `\\x${code.toString(16).padStart(2, '0')}`;
}
