// @ts-check
// Translates customers' patterns to PCRE. They are parsed and printed again, never copied, so that no feature of PCRE beyond RE2 can be
// used (back references, verbs, and named groups, which nginx would make variables). No pattern matches a line break.

import { Unwritable } from './quote.mjs';
import { hex, RegexText } from './regex-text.mjs';

/** Each unbounded repetition multiplies the time of a search by the length of the path. */
const MAX_UNBOUNDED = 4;
const MAX_DEPTH = 50;
const NO_BREAK = String.raw`[^\n]`;

/**
 * Translates a wildcard, in which `*` matches any text. Each part is searched once from the left (atomic), so the time stays linear.
 * @param {string} glob
 * @param {string} end expression that follows, such as `\\z`
 */
export function translateWildcard(glob, end) {
  const [first = '', ...rest] = glob.split('*').map(literal);
  const last = rest.pop();
  if (last === undefined) return first + end;
  const middle = rest.filter((part) => part !== '').map((part) => `(?>${NO_BREAK}*?${part})`);
  return `${first}${middle.join('')}${NO_BREAK}*${last}${end}`;
}

/** @param {string} text */
export function literal(text) {
  let written = '';
  for (const octet of Buffer.from(text)) {
    if (octet < 0x20 || octet === 0x7f) throw new Unwritable('the pattern has control characters');
    const character = String.fromCharCode(octet);
    written += /[A-Za-z0-9/_-]/.test(character) ? character : `\\x${octet.toString(16).padStart(2, '0')}`;
  }
  return written;
}

/**
 * Translates a regular expression in RE2's syntax.
 * @param {string} text
 * @param {{ end: string, captures: boolean }} how `end` replaces `$`; without `captures` groups do not capture
 */
export function translateRegex(text, how) {
  const reader = new Reader(text, how);
  const { written } = reader.readAlternatives(0);
  if (!reader.isAtEnd) throw new Unwritable('a regular expression with a ")" too many');
  return { written: `(?:${written})`, groups: reader.groups };
}

/**
 * `varies`: may match texts of different lengths. `first`: the literal characters that it can begin with; undefined if there are others.
 * @typedef {{ written: string, varies: boolean, alternates: boolean, first: string[] | undefined }} Piece
 */

class Reader extends RegexText {
  /** @param {string} text @param {{ end: string, captures: boolean }} how */
  constructor(text, how) {
    super(text);
    this.how = how;
    this.groups = 0;
    this.unbounded = 0;
  }

  /** @param {number} depth @returns {Piece} */
  readAlternatives(depth) {
    if (depth > MAX_DEPTH) throw new Unwritable('the regular expression has too many nested groups');
    const pieces = [this.readSequence(depth)];
    while (this.take('|')) pieces.push(this.readSequence(depth));
    const firsts = pieces.map(({ first }) => first);
    const first = firsts.every((each) => each !== undefined)
      ? firsts.flatMap((each) => each ?? [])
      : undefined;
    return {
      written: pieces.map(({ written }) => written).join('|'),
      varies: pieces.some(({ varies }) => varies),
      alternates: pieces.length > 1 || pieces.some(({ alternates }) => alternates),
      first,
    };
  }

  /** @param {number} depth @returns {Piece} */
  readSequence(depth) {
    /** @type {Piece[]} */
    const pieces = [];
    while (!this.isAtEnd && !['|', ')'].includes(this.characters[this.at] ?? '')) {
      pieces.push(this.readRepeated(depth));
    }
    const alternatesWithin = pieces.length > 1 && pieces.some(({ alternates }) => alternates);
    return {
      written: pieces.map(({ written }) => written).join(''),
      // Alternatives of different lengths allow several ways to split a text, too.
      varies: alternatesWithin || pieces.some(({ varies }) => varies),
      alternates: pieces.some(({ alternates }) => alternates),
      first: pieces[0]?.varies === false ? pieces[0].first : undefined,
    };
  }

  /** @param {number} depth @returns {Piece} */
  readRepeated(depth) {
    const piece = this.readAtom(depth);
    const count = this.readCount();
    if (count === undefined) return piece;
    const { least, most } = count;
    // If a text can be split in several ways, a near match is tried with all of them.
    if (most > 1 && (piece.varies || (piece.alternates && !areDistinct(piece.first)))) {
      throw new Unwritable('nginx does not support a regular expression with nested repetitions');
    }
    if (most === Number.POSITIVE_INFINITY && ++this.unbounded > MAX_UNBOUNDED)
      throw new Unwritable(`the regular expression has more than ${MAX_UNBOUNDED} unbounded repetitions`);
    const lazy = this.take('?') ? '?' : '';
    if (/[*+?]/.test(this.characters[this.at] ?? '') || this.startsCount())
      throw new Unwritable('the regular expression repeats a repetition');
    const range = most === Number.POSITIVE_INFINITY ? `{${least},}` : `{${least},${most}}`;
    return {
      ...piece,
      written: `(?:${piece.written})${range}${lazy}`,
      varies: piece.varies || least !== most,
    };
  }

  startsCount() {
    return /^\{\d+(?:,\d*)?\}/.test(this.characters.slice(this.at, this.at + 12).join(''));
  }

  readCount() {
    if (this.take('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.take('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.take('?')) return { least: 0, most: 1 };
    const [whole, low, comma, high] =
      /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.characters.slice(this.at, this.at + 12).join('')) ?? [];
    if (whole === undefined) return undefined;
    this.at += whole.length;
    const least = Number(low);
    const most = comma === '' ? least : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    if (most < least || least > 1_000)
      throw new Unwritable('the regular expression has an invalid repetition');
    return { least, most };
  }

  /** @param {number} depth @returns {Piece} */
  readAtom(depth) {
    const character = this.next();
    switch (character) {
      case '(':
        return this.readGroup(depth);
      case '[':
        return piece(this.readClass());
      case '\\':
        return this.readEscape();
      case '.':
        return piece(NO_BREAK);
      case '^':
        return piece('(?m:^)');
      case '$':
        return piece(this.how.end);
      case '*':
      case '+':
      case '?':
        throw new Unwritable('the regular expression repeats nothing');
      default:
        return ofCharacter(character);
    }
  }

  /** @param {number} depth @returns {Piece} */
  readGroup(depth) {
    let open = '(?:';
    if (this.take('?')) {
      const head = /^(?:P?<([A-Za-z0-9_]+)>|([ims]*)([:)]))/.exec(
        this.characters.slice(this.at, this.at + 80).join(''),
      );
      if (head === null) throw new Unwritable('nginx does not support a group of the regular expression');
      this.at += head[0].length;
      const [, name, flags, close] = head;
      if (name !== undefined) open = this.capture();
      // `m` and `s` concern line breaks, which cannot occur.
      else if (close === ')') return { ...piece(flags?.includes('i') ? '(?i)' : ''), first: undefined };
      else open = flags?.includes('i') ? '(?i:' : '(?:';
    } else open = this.capture();
    const inner = this.readAlternatives(depth + 1);
    if (!this.take(')')) throw new Unwritable('the regular expression has an unclosed group');
    return { ...inner, written: `${open}${inner.written})` };
  }

  capture() {
    this.groups++;
    return this.how.captures ? '(' : '(?:';
  }

  /** @returns {Piece} */
  readEscape() {
    const character = this.next();
    const known = ESCAPES[character];
    if (known !== undefined) return piece(known);
    if (character === 'A') return piece('(?m:^)');
    if (character === 'z') return piece(this.how.end);
    if (character === 'b' || character === 'B') return piece(`\\${character}`);
    if (character === 'x') return piece(hex(this.readHex()));
    if (/[^A-Za-z0-9]/.test(character)) return ofCharacter(character);
    throw new Unwritable(`nginx does not support a regular expression with \\${character}`);
  }
}

/** @type {Record<string, string>} */
const ESCAPES = {
  d: '[0-9]',
  D: String.raw`[^0-9\n]`,
  w: '[0-9A-Za-z_]',
  W: String.raw`[^0-9A-Za-z_\n]`,
  s: String.raw`[\x20\t\f\r]`,
  S: String.raw`[^\x20\t\f\r\n]`,
};

/** @param {string} written @returns {Piece} */
const piece = (written) => ({ written, varies: false, alternates: false, first: undefined });

/** @param {string} character @returns {Piece} */
function ofCharacter(character) {
  const written = literal(character);
  const isOctet = Buffer.byteLength(character) === 1;
  return { ...piece(isOctet ? written : `(?:${written})`), first: [character.toLowerCase()] };
}

/** @param {string[] | undefined} first */
function areDistinct(first) {
  return first !== undefined && new Set(first).size === first.length;
}
