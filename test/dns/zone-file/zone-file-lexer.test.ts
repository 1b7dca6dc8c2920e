import { describe, expect, it } from 'vitest';
import { ZoneFileLexer } from '../../../src/dns/zone-file/zone-file-lexer.ts';
import { countReads } from '../../support/tests/count-reads.ts';

interface Lexed {
  entries: string[];
  problems: string[];
}

/** Entries as words, quoted ones in quotes, a blank start as `_`, broken entries with `!` in front. */
function lex(text: string): Lexed {
  const problems: string[] = [];
  const lexer = new ZoneFileLexer(text, (line, column, message) =>
    problems.push(`${line}:${column} ${message}`),
  );
  const entries: string[] = [];
  for (let entry = lexer.next(); entry !== undefined; entry = lexer.next()) {
    const words = entry.tokens.map((token) => (token.quoted ? `"${token.text}"` : token.text));
    entries.push([...(entry.broken ? ['!'] : []), ...(entry.blankStart ? ['_'] : []), ...words].join(' '));
  }
  return { entries, problems };
}

function places(text: string): string[] {
  const lexer = new ZoneFileLexer(text, () => {});
  const found: string[] = [];
  for (let entry = lexer.next(); entry !== undefined; entry = lexer.next()) {
    for (const { line, column, text: word } of entry.tokens) found.push(`${line}:${column} ${word}`);
  }
  return found;
}

describe('words', () => {
  it.each([
    ['a A 192.0.2.1', ['a A 192.0.2.1']],
    ['a\tA \t 192.0.2.1  ', ['a A 192.0.2.1']],
    ['a A 192.0.2.1\r\n\tA 192.0.2.2\r\n', ['a A 192.0.2.1', '_ A 192.0.2.2']],
    ['a A 192.0.2.1 ; x\r\tA 192.0.2.2\r', ['a A 192.0.2.1', '_ A 192.0.2.2']],
    [' \n\t\n\n; nothing\n   ; nothing\n', []],
    ['a TXT x;y ; z', ['a TXT x']],
    ['a TXT "x;y" ; "z', ['a TXT "x;y"']],
    ['a TXT "x" "y""z" w"v"', ['a TXT "x" "y" "z" w "v"']],
    ['a TXT "" ', ['a TXT ""']],
    ['\uFEFFa A 192.0.2.1', ['a A 192.0.2.1']],
    ['a TXT "\u00fc"', ['a TXT "\u00fc"']],
  ])('are cut out of %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it.each([
    ['a\\.b\\;c\\"d\\(e\\ f\\\\ A', ['a\\.b\\;c\\"d\\(e\\ f\\\\ A']],
    ['a TXT "q\\"q\\\\" b', ['a TXT "q\\"q\\\\" b']],
    ['a TXT \\# 1 00', ['a TXT \\# 1 00']],
  ])('keep the escapes of %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it('know their line and column, also behind CRLF, tabs, a byte order mark and inside parentheses', () => {
    expect(places('\uFEFFa ( b\r\n\tc ) "d"\r\n\te')).toEqual(['1:1 a', '1:5 b', '2:2 c', '2:6 d', '3:2 e']);
  });
});

describe('parentheses', () => {
  it.each([
    ['a SOA b c (\n1 ; one\n2\n 3 )\nd A x', ['a SOA b c 1 2 3', 'd A x']],
    ['a (\n) b ( c\n) d\ne', ['a b c d', 'e']],
    ['a(b)c', ['a b c']],
    ['(a\nb)\n c', ['a b', '_ c']],
    ['a ( ")" \\) ; )\n )', ['a ")" \\)']],
  ])('join lines in %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it('that are never closed are a problem where they open, and the file is read on below', () => {
    expect(lex('a ( b\n c\n d\ne f\n g')).toEqual({
      entries: ['! a b c d e f g', 'e f', '_ g'],
      problems: ['1:3 the parenthesis is not closed'],
    });
  });

  it('inside parentheses mean that the first was left open', () => {
    expect(lex('a ( b\nc d\ne ( f\n g )\nh')).toEqual({
      entries: ['! a b c d e', 'c d', 'e f g', 'h'],
      problems: ['1:3 the parenthesis is not closed'],
    });
  });

  it('that close without an opening one are a problem', () => {
    expect(lex('a b ) c\nd')).toEqual({
      entries: ['! a b c', 'd'],
      problems: ['1:5 ")" without "(" before it'],
    });
  });

  it('that are left open do not make the problems inside appear twice', () => {
    expect(lex('a ( b\nc "d\ne ) f\ng ( h\ni "j').problems).toEqual([
      '2:3 a quoted string is not closed',
      '5:3 a quoted string is not closed',
      '4:3 the parenthesis is not closed',
    ]);
  });
});

describe('strings and escapes', () => {
  it.each([
    ['a "b\nc', '1:3 a quoted string is not closed'],
    ['a "b\r\nc', '1:3 a quoted string is not closed'],
    ['a "b\\\nc', '1:3 a quoted string is not closed'],
    ['a "b\\"\nc', '1:3 a quoted string is not closed'],
    ['a b\\\nc', '1:4 a backslash ends the line'],
    ['a b\\\r\nc', '1:4 a backslash ends the line'],
  ])('that are left open end with their line: %j', (text, problem) => {
    const { entries, problems } = lex(text);
    expect(problems).toEqual([problem]);
    expect(entries).toEqual(['! a', 'c']);
  });

  it.each([
    ['"b TXT x\nc', ['!', 'c']],
    ['b\\\nc', ['!', 'c']],
    [' "b\nc', ['! _', 'c']],
    [`${'b'.repeat(300_001)} A x\nc`, ['!', 'c']],
    ['\ufffd A x\nc', ['!', 'c']],
  ])('leave nothing of an entry whose first word they break', (text, entries) => {
    expect(lex(text).entries).toEqual(entries);
  });

  it.each([
    'a "b',
    'a "b\\',
    'a b\\',
    '"',
    '\\',
    '(',
    'a (',
  ])('are closed by the end of the file: %j', (text) => {
    expect(lex(text).problems).toHaveLength(1);
  });
});

describe('quoted strings over line breaks (RFC 1035 §5.1)', () => {
  it.each([
    ['a "b\nc" d\ne', ['a "b\nc" d', 'e']],
    ['a "b\r\n\r\n\tc";d\ne', ['a "b\r\n\r\n\tc"', 'e']],
    ['a ("b\n ; ) (c")\ne', ['a "b\n ; ) (c"', 'e']],
    ['a "b\\"\n\\\nc\\\\"', ['a "b\\"\n\\\nc\\\\"']],
    ['a "\n" "\r"\nb', ['a "\n" "\r"', 'b']],
  ])('are one word: %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it('are counted as lines, and have their place where they begin', () => {
    expect(places('a "b\r\nc\rd\ne" f ( "g\n"\n  h )\ni')).toEqual([
      '1:1 a',
      '1:3 b\r\nc\rd\ne',
      '4:4 f',
      '4:8 g\n',
      '6:3 h',
      '7:1 i',
    ]);
    expect(lex(`a "b\n${'c'.repeat(299_000)}\n" "\n\ufffd" d)`).problems).toEqual([
      '3:3 the text is not UTF-8; write such octets as \\DDD',
      '4:5 ")" without "(" before it',
    ]);
  });

  it.each([
    ['a TXT "b\nc TXT "d"\ne', ['! a TXT', 'c TXT "d"', 'e']],
    ['a TXT "b\nc TXT ""\ne', ['! a TXT', 'c TXT ""', 'e']],
    ['a TXT b"\n\nc TXT "d" "e"\n', ['! a TXT b', 'c TXT "d" "e"']],
  ])('end with their first line where the quote below opens another string', (text, entries) => {
    const lexed = lex(text);
    expect(lexed.problems[0]).toMatch(/^1:[0-9]+ a quoted string is not closed$/);
    expect(lexed.entries).toEqual(entries);
  });

  it('end with their first line where no quote is near', () => {
    const { entries, problems } = lex(`a "b\n${`${'c'.repeat(99)}\n`.repeat(3001)}" d\ne`);
    expect(problems[0]).toBe('1:3 a quoted string is not closed');
    expect([entries.length, entries.at(-1)]).toEqual([3004, 'e']);
  });
});

describe('text that was not UTF-8', () => {
  it('is a problem, since its octets are lost, but not in comments', () => {
    const text = Buffer.from('a TXT "caf\xe9" ; \xe9\nb TXT x ; \xe9\nc TXT "\\233"', 'latin1').toString(
      'utf8',
    );
    const { entries, problems } = lex(text);
    expect(problems).toEqual(['1:7 the text is not UTF-8; write such octets as \\DDD']);
    expect(entries.map((words) => words.split(' ')[0])).toEqual(['!', 'b', 'c']);
  });
});

describe('limits', () => {
  it('hold the number of words in an entry', () => {
    const { entries, problems } = lex(`a ${'b '.repeat(70_010)}\nc`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('more words');
    expect(entries.map((words) => words.split(' ').length)).toEqual([70_001, 1]);
  });

  it('hold the length of a word', () => {
    const { entries, problems } = lex(`a ${'b'.repeat(300_001)} "${'c'.repeat(300_001)}"\nd`);
    expect(problems.every((problem) => problem.includes('longer'))).toBe(true);
    expect(problems).toHaveLength(2);
    expect(entries).toEqual(['! a', 'd']);
  });

  it.each([
    ['open parentheses', '('],
    ['open parentheses on lines of their own', 'a (\n'],
    ['closed ones', ')\n'],
    ['open quotes', '"\n'],
    ['backslashes', '\\\n'],
    ['returns in quotes', '"\r\r\r\r\r'],
    ['blank lines after an open parenthesis', '( \n \n'],
    ['long comments', ';;;;;;;;;;;;;;'],
    ['quotes', '"" '],
    ['quotes that touch a word below', '"\n\n\n"a'],
    ['strings over lines in parentheses', '( "\n" ( "\n'],
    ['strings over lines that hide a parenthesis', '";\n "\n\n(;a'],
  ])('are read a few times each: 100,000 characters of %s', (_what, unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    const reads = countReads(() => lex(text));
    expect(reads).toBeGreaterThanOrEqual(text.length / 2);
    expect(reads).toBeLessThan(6 * text.length);
  });
});
