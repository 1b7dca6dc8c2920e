// Parses an nginx configuration like nginx (ngx_conf_read_token), independently of the code that wrote it.

export interface Directive {
  readonly words: readonly string[];
  /** Undefined if it ends with ";". */
  readonly block: readonly Directive[] | undefined;
}

export function parseNginx(text: string): readonly Directive[] {
  const reader = new Reader(text);
  const directives = reader.readBlock(false);
  return directives;
}

/** Returns all directives, including nested ones. Entries of maps and similar blocks are not directives. */
export function everyDirective(directives: readonly Directive[]): readonly Directive[] {
  return directives.flatMap((directive) => [
    directive,
    ...(directive.block === undefined || hasEntries(directive) ? [] : everyDirective(directive.block)),
  ]);
}

export function hasEntries({ words }: Directive): boolean {
  return ['map', 'geo', 'split_clients', 'types'].includes(words[0] ?? '');
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readBlock(isInner: boolean): readonly Directive[] {
    const directives: Directive[] = [];
    let words: string[] = [];
    for (;;) {
      this.#skip();
      const character = this.#text[this.#at];
      if (character === undefined) {
        if (isInner || words.length > 0) throw new Error('the file ends too early');
        return directives;
      }
      if (character === '}') {
        if (!isInner || words.length > 0) throw new Error('a "}" too many');
        this.#at++;
        return directives;
      }
      if (character === ';') {
        this.#at++;
        if (words.length === 0) throw new Error('a ";" too many');
        directives.push({ words, block: undefined });
        words = [];
      } else if (character === '{') {
        this.#at++;
        if (words.length === 0) throw new Error('a "{" too many');
        directives.push({ words, block: this.readBlock(true) });
        words = [];
      } else words.push(this.#readWord());
    }
  }

  #skip(): void {
    for (;;) {
      const character = this.#text[this.#at] ?? '';
      if (/^[ \t\r\n]$/.test(character)) this.#at++;
      else if (character === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  #readWord(): string {
    const quote = this.#text[this.#at];
    return quote === '"' || quote === "'" ? this.#readQuoted(quote) : this.#readPlain();
  }

  #readQuoted(quote: string): string {
    let word = '';
    for (this.#at++; this.#text[this.#at] !== quote; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Error('unterminated quote');
      word += character === '\\' ? this.#readEscape() : character;
    }
    this.#at++;
    if (!/^[ \t\r\n;{)]$/.test(this.#text[this.#at] ?? '')) throw new Error('unexpected text after a quote');
    return word;
  }

  #readEscape(): string {
    const next = this.#text[++this.#at] ?? '';
    if (['"', "'", '\\'].includes(next)) return next;
    return { t: '\t', r: '\r', n: '\n' }[next] ?? `\\${next}`;
  }

  #readPlain(): string {
    let word = '';
    for (;;) {
      const character = this.#text[this.#at] ?? '';
      if (character === '{' && word.endsWith('$')) word += character;
      else if (/^[ \t\r\n;{]?$/.test(character)) return word;
      else if (character === '\\') {
        word += character + (this.#text[++this.#at] ?? '');
      } else word += character;
      this.#at++;
    }
  }
}
