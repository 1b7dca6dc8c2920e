// Splits zone-file text into entries: one line each, or several if parentheses or a quoted string join them (RFC 1035 §5.1).
// After an unclosed parenthesis or quote, the lexer goes back and continues on the line below. No character is read more than
// a few times: the skipped text contains no other unclosed one, and strings in text that is read again end with their line.

import type { Token } from '../record/token.ts';

export interface ZoneFileEntry {
  /** Empty if the first token of a broken entry is invalid. */
  readonly tokens: readonly Token[];
  /** True if the first line starts with a blank: the entry has no owner of its own. */
  readonly blankStart: boolean;
  /** True if a problem was reported in the entry. Then only the first token can be used. */
  readonly broken: boolean;
  /** The text after the last `;` in the entry that begins a comment. */
  readonly comment: string | undefined;
}

const MAX_TOKENS = 70_000; // rdata of 65,535 octets is at most this many empty strings
const MAX_TOKEN_CHARACTERS = 300_000; // 65,535 octets, each written as \DDD

const REPLACEMENT = '\uFFFD'; // replaces invalid UTF-8 when decoding; the octets are lost

const TYPOGRAPHIC_QUOTE = /[“”„‟«»]/;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const OPEN = 40;
const CLOSE = 41;
const SEMICOLON = 59;
const BACKSLASH = 92;

const LINE_END = /[\r\n]/g;

const ENDS_WORD = new Uint8Array(128);
for (const code of [TAB, LF, CR, SPACE, QUOTE, OPEN, CLOSE, SEMICOLON]) ENDS_WORD[code] = 1;

export function typographicQuoteIn(text: string): string | undefined {
  return TYPOGRAPHIC_QUOTE.exec(text)?.[0];
}

export function explainTypographicQuote(quote: string): string {
  return `${quote} is not a quotation mark here: write " instead`;
}

interface Opening {
  readonly at: number;
  readonly line: number;
  readonly column: number;
}

export class ZoneFileLexer {
  readonly #text: string;
  readonly #report: (line: number, column: number, message: string) => void;
  readonly #hasReplacements: boolean;
  readonly #hasTypographicQuotes: boolean;
  #at: number;
  #tokenAt = 0;
  #line = 1;
  #lineStart: number;
  #reportedTo = -1; // prevents duplicate reports for text that is read twice
  #broken = false;
  #firstLost = false;
  #comment: string | undefined;

  constructor(text: string, report: (line: number, column: number, message: string) => void) {
    this.#text = text;
    this.#report = report;
    this.#hasReplacements = text.includes(REPLACEMENT);
    this.#hasTypographicQuotes = TYPOGRAPHIC_QUOTE.test(text);
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0; // byte order mark
    this.#lineStart = this.#at;
  }

  /** Returns the next entry that has tokens or is broken. Returns undefined at the end. */
  next(): ZoneFileEntry | undefined {
    while (this.#at < this.#text.length) {
      const first = this.#text.charCodeAt(this.#at);
      const tokens: Token[] = [];
      this.#broken = false;
      this.#firstLost = false;
      this.#comment = undefined;
      this.#readEntry(tokens);
      if (tokens.length > 0 || this.#broken) {
        const blankStart = first === SPACE || first === TAB;
        const worth = this.#firstLost ? [] : tokens;
        return { tokens: worth, blankStart, broken: this.#broken, comment: this.#comment };
      }
    }
    return undefined;
  }

  #readEntry(tokens: Token[]): void {
    const text = this.#text;
    let opening: Opening | undefined;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (code === LF || code === CR) {
        this.#endLine();
        if (opening === undefined) return;
      } else if (code === SPACE || code === TAB) {
        this.#at++;
      } else if (code === SEMICOLON) {
        const start = this.#at + 1;
        this.#skipLine();
        this.#comment = text.slice(start, this.#at);
      } else if (code === OPEN) {
        // BIND nests parentheses, NSD and Knot reject them; nearly always the first one was not closed
        if (opening !== undefined) {
          this.#leaveOpen(opening);
          return;
        }
        opening = { at: this.#at, line: this.#line, column: this.#column() };
        this.#at++;
      } else if (code === CLOSE) {
        if (opening === undefined) this.#problem('")" without a matching "("');
        opening = undefined;
        this.#at++;
      } else {
        this.#push(tokens, code === QUOTE ? this.#readQuoted() : this.#readWord());
      }
    }
    if (opening !== undefined) this.#leaveOpen(opening);
  }

  #readWord(): Token | undefined {
    const text = this.#text;
    let end = this.#at;
    while (end < text.length) {
      const code = text.charCodeAt(end);
      if (code === BACKSLASH) {
        if (this.#endsLine(end + 1)) {
          this.#problem('a backslash ends the line', end);
          this.#skipLine();
          return undefined;
        }
        end += 2;
      } else if (code < 128 && ENDS_WORD[code] === 1) {
        break;
      } else {
        end++;
      }
    }
    return this.#take(this.#at, end, end, false);
  }

  #readQuoted(): Token | undefined {
    const text = this.#text;
    const maxEnd = this.#at > this.#reportedTo ? this.#at + MAX_TOKEN_CHARACTERS : this.#at;
    let end = this.#at + 1;
    let isOneLine = true;
    for (;;) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) break;
      const isEscape = code === BACKSLASH;
      isOneLine &&= !this.#endsLine(isEscape ? end + 1 : end);
      if (!isOneLine && (end > maxEnd || end >= text.length)) return this.#leaveUnclosed();
      end += isEscape ? 2 : 1;
    }
    // Any character may appear between the quotes (RFC 1035 §5.1). But if the next quote below touches a word, it opens
    // another string, and this one was not closed.
    if (!isOneLine && !this.#isBehindToken(end + 1)) return this.#leaveUnclosed();
    const token = this.#take(this.#at + 1, end, end + 1, true);
    if (!isOneLine) this.#countLines(this.#tokenAt, end);
    return token;
  }

  #leaveUnclosed(): undefined {
    this.#problem('a quoted string is not closed');
    this.#skipLine();
  }

  #isBehindToken(at: number): boolean {
    return this.#endsLine(at) || this.#isBlank(at) || ';()'.includes(this.#text.charAt(at));
  }

  #countLines(from: number, to: number): void {
    for (const { 0: end, index } of this.#text.slice(from, to).matchAll(/\r\n|[\r\n]/g)) {
      this.#line++;
      this.#lineStart = from + index + end.length;
    }
  }

  #take(start: number, end: number, next: number, quoted: boolean): Token {
    const token = { text: this.#text.slice(start, end), quoted, line: this.#line, column: this.#column() };
    this.#tokenAt = this.#at;
    this.#at = next;
    return token;
  }

  #push(tokens: Token[], token: Token | undefined): void {
    const isFirst = tokens.length === 0;
    if (token === undefined) {
      this.#firstLost ||= isFirst;
      return;
    }
    if (token.text.length > MAX_TOKEN_CHARACTERS) {
      this.#firstLost ||= isFirst;
      this.#problem('a word is longer than the longest rdata', this.#tokenAt, token);
    } else if (tokens.length < MAX_TOKENS) {
      tokens.push(token);
      if (this.#hasReplacements && token.text.includes(REPLACEMENT)) {
        this.#firstLost ||= isFirst;
        this.#problem('the text is not UTF-8; write such octets as \\DDD', this.#tokenAt, token);
      }
      const quote = this.#hasTypographicQuotes && !token.quoted ? typographicQuoteIn(token.text) : undefined;
      if (quote !== undefined && !this.#broken) {
        this.#firstLost ||= isFirst;
        this.#problem(explainTypographicQuote(quote), this.#tokenAt, token);
      }
    } else if (!this.#broken) {
      this.#problem('an entry has more words than the longest rdata', this.#tokenAt, token);
    }
  }

  /** Reports the parenthesis and continues at the next line below it that has an owner of its own. */
  #leaveOpen(opening: Opening): void {
    this.#reportedTo = Math.max(this.#reportedTo, this.#at - 1);
    this.#broken = true;
    this.#report(opening.line, opening.column, 'the parenthesis is not closed');
    this.#at = opening.at;
    this.#line = opening.line;
    do {
      this.#skipLine();
      if (this.#at < this.#text.length) this.#endLine();
    } while (this.#at < this.#text.length && (this.#isBlank(this.#at) || this.#text[this.#at] === ')'));
  }

  #problem(message: string, at = this.#at, place = this.#placeOf(at)): void {
    this.#broken = true;
    if (at <= this.#reportedTo) return;
    this.#reportedTo = at;
    this.#report(place.line, place.column, message);
  }

  #placeOf(at: number): Pick<Token, 'line' | 'column'> {
    return { line: this.#line, column: at - this.#lineStart + 1 };
  }

  #skipLine(): void {
    LINE_END.lastIndex = this.#at;
    this.#at = LINE_END.exec(this.#text)?.index ?? this.#text.length;
  }

  /** A single CR ends a line too, as in files from old Macs. */
  #endLine(): void {
    this.#at += this.#text.startsWith('\r\n', this.#at) ? 2 : 1;
    this.#line++;
    this.#lineStart = this.#at;
  }

  #endsLine(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === LF || code === CR || Number.isNaN(code);
  }

  #isBlank(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === SPACE || code === TAB;
  }

  #column(): number {
    return this.#at - this.#lineStart + 1;
  }
}
