// Measures a regular expression before it is compiled: the size of its program, and if a backtracking engine may run it.
// Accepts more syntax than RE2, and never underestimates the size.

interface RegexMeasure {
  /** Upper bound for the instructions of the compiled program and the cost of its character classes. */
  readonly size: number;
  /** True for nested repetitions, or too many consecutive ones. */
  readonly isNested: boolean;
  /** False if other kinds of engines interpret a part of it differently. */
  readonly isPortable: boolean;
}

interface Piece {
  readonly size: number;
  /** True if it can match texts of several lengths, or in several ways. */
  readonly varies: boolean;
}

/** Cost of one `\p`, in instructions. */
const PROPERTY_COST = 30;
/** With this many consecutive repetitions, a backtracking engine needs cubic time. */
const MAX_UNBOUNDED = 3;
const REPEAT = /^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})\??/;
const ATOM: Piece = { size: 2, varies: false };

export function measureRegex(text: string): RegexMeasure {
  return new Measurer(text).measure();
}

class Measurer {
  readonly #text: string;
  #at = 0;
  #isNested = false;
  #isPortable = true;
  #unbounded = 0;
  #extra = 0;

  constructor(text: string) {
    this.#text = text;
  }

  measure(): RegexMeasure {
    const levels: Level[] = [new Level()];
    while (this.#at < this.#text.length) {
      const level = levels.at(-1) as Level;
      const char = this.#text[this.#at] as string;
      if (char === '(') {
        if (!this.#skipFlags()) {
          this.#skipGroupHead();
          levels.push(new Level());
        }
      } else if (char === ')') {
        this.#at++;
        const group = levels.length > 1 ? (levels.pop() as Level).piece() : ATOM;
        (levels.at(-1) as Level).add(this.#repeat(group));
      } else if (char === '|') {
        this.#at++;
        level.alternate();
      } else {
        level.add(this.#repeat(this.#atom(char)));
      }
    }
    let size = this.#extra;
    for (const level of levels) size += level.piece().size;
    const isNested = this.#isNested || this.#unbounded > MAX_UNBOUNDED;
    return { size, isNested, isPortable: this.#isPortable };
  }

  /** `(?i)` matches nothing. A repetition after it applies to the preceding atom, which may already be repeated. */
  #skipFlags(): boolean {
    const read = /^\(\?[a-zA-Z-]*\)/.exec(this.#text.slice(this.#at, this.#at + 300))?.[0];
    if (read === undefined) return false;
    this.#at += read.length;
    if (read.includes('U')) this.#isPortable = false;
    this.#refuseRepeat();
    return true;
  }

  #refuseRepeat(): void {
    if (REPEAT.test(this.#text.slice(this.#at, this.#at + 24))) this.#extra = Number.POSITIVE_INFINITY;
  }

  #skipGroupHead(): void {
    const head = /^\((\?(P?<[^>]*>|[a-zA-Z-]*:))?/.exec(this.#text.slice(this.#at, this.#at + 300));
    const read = head?.[0] ?? '(';
    if (/^\(\?[a-zA-Z-]*U/.test(read)) this.#isPortable = false;
    this.#at += read.length;
  }

  #atom(char: string): Piece {
    if (char.charCodeAt(0) > 0x7e) this.#isPortable = false;
    if (char === '[') return this.#characterClass();
    if (char !== '\\') {
      this.#at++;
      return ATOM;
    }
    const next = this.#text[this.#at + 1];
    if (next === 'Q') {
      const start = this.#at;
      const end = this.#text.indexOf('\\E', start);
      const last = end < 0 ? this.#text.length : end;
      const literal: Piece = { size: 2 * Math.max(1, last - start - 2), varies: false };
      this.#at = end < 0 ? this.#text.length : end + 2;
      if (last - start === 2) this.#refuseRepeat();
      return literal;
    }
    this.#readEscape();
    return ATOM;
  }

  #readEscape(): void {
    const found = /^\\(?:[pP](?:\{[^}]*\}|.)?|x\{[^}]*\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|[\s\S]|$)/.exec(
      this.#text.slice(this.#at, this.#at + 100),
    );
    const read = found?.[0] ?? '\\';
    if (/^\\[pP]/.test(read)) this.#extra += PROPERTY_COST;
    if (/^\\([pPvzCQ]|x\{)/.test(read)) this.#isPortable = false;
    this.#at += read.length;
  }

  #characterClass(): Piece {
    this.#at++;
    if (this.#text[this.#at] === '^') this.#at++;
    if (this.#text[this.#at] === ']') this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== ']') {
      const char = this.#text[this.#at] as string;
      if (char.charCodeAt(0) > 0x7e) this.#isPortable = false;
      if (char === '\\') this.#readEscape();
      else this.#at += /^\[:\^?[a-z]+:\]/.exec(this.#text.slice(this.#at, this.#at + 20))?.[0].length ?? 1;
    }
    this.#at++;
    return ATOM;
  }

  /** Reads the quantifier after an atom or group: `*`, `+`, `?`, `{2,5}`, and the lazy modifier. */
  #repeat(piece: Piece): Piece {
    const read = REPEAT.exec(this.#text.slice(this.#at, this.#at + 24));
    if (read === null) {
      if (this.#text.startsWith('{,', this.#at)) this.#isPortable = false; // newer PCRE2 repeats
      return piece;
    }
    this.#at += read[0].length;
    const [, least, hasRange, most] = read;
    const isUnbounded =
      least === undefined ? !read[0].startsWith('?') : hasRange !== undefined && most === '';
    const times =
      least === undefined ? 1 : Math.max(Number(least), Number(most ?? 0)) + (isUnbounded ? 1 : 0);
    const varies = least === undefined || (hasRange !== undefined && most !== least);
    const repeats = isUnbounded || times > 1;
    if (repeats && piece.varies) this.#isNested = true;
    if (isUnbounded) this.#unbounded++;
    return {
      size: piece.size * Math.max(1, times) + 2 + (varies ? times : 0),
      varies: varies || piece.varies,
    };
  }
}

/** The contents of a pair of parentheses. */
class Level {
  #size = 3;
  #varies = false;

  add({ size, varies }: Piece): void {
    this.#size += size;
    this.#varies ||= varies;
  }

  alternate(): void {
    this.#size += 3;
    this.#varies = true;
  }

  piece(): Piece {
    return { size: this.#size, varies: this.#varies };
  }
}
