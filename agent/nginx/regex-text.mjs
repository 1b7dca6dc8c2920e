// @ts-check
// Reads the text of a regular expression from left to right, with its character classes.

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
    if (character === undefined) throw new Unwritable('the regular expression is incomplete');
    return character;
  }

  readHex() {
    const [all, long, short] =
      /^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(
        this.characters.slice(this.at, this.at + 8).join(''),
      ) ?? [];
    if (all === undefined) throw new Unwritable('the regular expression has an invalid \\x');
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
      if (all === undefined || known === undefined)
        throw new Unwritable('nginx does not support a character class of the regular expression');
      this.at += all.length;
      return known;
    }
    const low = this.readClassEnd();
    if (typeof low === 'string') return low;
    const [dash, after] = this.characters.slice(this.at, this.at + 2);
    if (dash !== '-' || after === ']' || after === undefined) return hex(low);
    this.at++;
    const high = this.readClassEnd();
    if (typeof high === 'string' || high < low)
      throw new Unwritable('a character class has an invalid range');
    return `${hex(low)}-${hex(high)}`;
  }

  /** @returns {number | string} a character, or a nested class */
  readClassEnd() {
    const character = this.next();
    if (character !== '\\') return codeOf(character);
    const escaped = this.next();
    const known = IN_CLASS[escaped];
    if (known !== undefined) return known;
    if (escaped === 'x') return this.readHex();
    if (/[^A-Za-z0-9]/.test(escaped)) return codeOf(escaped);
    throw new Unwritable(`nginx does not support a character class with \\${escaped}`);
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

/** Returns one octet, because paths are matched by octets. @param {number} code */
export function hex(code) {
  if (code > 0x7e || code < 0x20)
    throw new Unwritable('nginx does not support character classes with non-ASCII characters');
  return `\\x${code.toString(16).padStart(2, '0')}`;
}
