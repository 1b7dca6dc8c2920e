// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are the templates of $GENERATE

import { describe, expect, it } from 'vitest';
import { TextError, WireError } from '../../src/dns/errors.ts';
import { parseName, ROOT } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { alignTtls } from '../../src/dns/zone-file/align-ttls.ts';
import { decodeText, explainNuls } from '../../src/dns/zone-file/decode-text.ts';
import {
  compileRdata,
  compileTemplate,
  parseGenerateRange,
} from '../../src/dns/zone-file/expand-generate.ts';
import { type FileChain, IncludedFiles } from '../../src/dns/zone-file/included-files.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts';
import { ZoneFileLexer } from '../../src/dns/zone-file/zone-file-lexer.ts';
import { ZoneFileProblems } from '../../src/dns/zone-file/zone-file-problems.ts';
import { countReads } from '../support/tests/count-reads.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

interface Lexed {
  entries: string[];
  problems: string[];
}

/** Prints entries as words: quoted ones in quotes, a blank start as `_`, broken entries with `!` in front. */
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

describe('words of a zone file', () => {
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
  ])('are split correctly in %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it.each([
    ['a\\.b\\;c\\"d\\(e\\ f\\\\ A', ['a\\.b\\;c\\"d\\(e\\ f\\\\ A']],
    ['a TXT "q\\"q\\\\" b', ['a TXT "q\\"q\\\\" b']],
    ['a TXT \\# 1 00', ['a TXT \\# 1 00']],
  ])('keep the escapes of %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it('have the correct line and column, even after CRLF, tabs and a byte order mark, and inside parentheses', () => {
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

  it('that are never closed are reported where they open, and the file is read on below', () => {
    expect(lex('a ( b\n c\n d\ne f\n g')).toEqual({
      entries: ['! a b c d e f g', 'e f', '_ g'],
      problems: ['1:3 the parenthesis is not closed'],
    });
  });

  it('inside parentheses mean that the first one was not closed', () => {
    expect(lex('a ( b\nc d\ne ( f\n g )\nh')).toEqual({
      entries: ['! a b c d e', 'c d', 'e f g', 'h'],
      problems: ['1:3 the parenthesis is not closed'],
    });
  });

  it('that close without an opening one are a problem', () => {
    expect(lex('a b ) c\nd')).toEqual({
      entries: ['! a b c', 'd'],
      problems: ['1:5 ")" without a matching "("'],
    });
  });

  it('that are not closed do not duplicate the problems inside', () => {
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
  ])('that are not closed end with their line: %j', (text, problem) => {
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
  ])('whose error is in the first word of an entry leave no token of it', (text, entries) => {
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

describe('quoted strings may span lines (RFC 1035 §5.1)', () => {
  it.each([
    ['a "b\nc" d\ne', ['a "b\nc" d', 'e']],
    ['a "b\r\n\r\n\tc";d\ne', ['a "b\r\n\r\n\tc"', 'e']],
    ['a ("b\n ; ) (c")\ne', ['a "b\n ; ) (c"', 'e']],
    ['a "b\\"\n\\\nc\\\\"', ['a "b\\"\n\\\nc\\\\"']],
    ['a "\n" "\r"\nb', ['a "\n" "\r"', 'b']],
  ])('are a single word: %j', (text, entries) => {
    expect(lex(text)).toEqual({ entries, problems: [] });
  });

  it('that span lines are counted as lines, and have the position of their start', () => {
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
      '4:5 ")" without a matching "("',
    ]);
  });

  it.each([
    ['a TXT "b\nc TXT "d"\ne', ['! a TXT', 'c TXT "d"', 'e']],
    ['a TXT "b\nc TXT ""\ne', ['! a TXT', 'c TXT ""', 'e']],
    ['a TXT b"\n\nc TXT "d" "e"\n', ['! a TXT b', 'c TXT "d" "e"']],
  ])('end with their first line if the quote below opens another string', (text, entries) => {
    const lexed = lex(text);
    expect(lexed.problems[0]).toMatch(/^1:[0-9]+ a quoted string is not closed$/);
    expect(lexed.entries).toEqual(entries);
  });

  it('that are not closed end with their first line if no other quote is near', () => {
    const { entries, problems } = lex(`a "b\n${`${'c'.repeat(99)}\n`.repeat(3001)}" d\ne`);
    expect(problems[0]).toBe('1:3 a quoted string is not closed');
    expect([entries.length, entries.at(-1)]).toEqual([3004, 'e']);
  });
});

describe('text that was not UTF-8', () => {
  it('is a problem, because its octets are lost, but not in comments', () => {
    const text = Buffer.from('a TXT "caf\xe9" ; \xe9\nb TXT x ; \xe9\nc TXT "\\233"', 'latin1').toString(
      'utf8',
    );
    const { entries, problems } = lex(text);
    expect(problems).toEqual(['1:7 the text is not UTF-8; write such octets as \\DDD']);
    expect(entries.map((words) => words.split(' ')[0])).toEqual(['!', 'b', 'c']);
  });
});

describe('the bytes of a zone file', () => {
  const TEXT = '$TTL 900\nshop A 192.0.2.21 ; Ladenschlüssel\npost MX 5 mx.stall.example.\n';
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const swapped = (text: string) => utf16(text).swap16();

  it.each<[string, Uint8Array]>([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${TEXT}`)],
    ['UTF-16LE with a byte order mark', utf16(`\uFEFF${TEXT}`)],
    ['UTF-16BE with a byte order mark', swapped(`\uFEFF${TEXT}`)],
    ['UTF-16LE', utf16(TEXT)],
    ['UTF-16BE', swapped(TEXT)],
  ])('are decoded from %s', (_encoding, bytes) => {
    expect(decodeText(bytes)).toBe(TEXT);
  });

  it('may be UTF-16 with a comment in another script', () => {
    const text = `; 配置\u3000ゾーン\n${TEXT}`;
    for (const bytes of [utf16(text), swapped(text)]) expect(decodeText(bytes)).toBe(text);
  });

  it.each(['', 'a', 'a TXT "x\0y"\n', 'a A 192.0.2.1\n\0\0\0\0\0\0\0\0'])('remain UTF-8 in %j', (text) => {
    expect(decodeText(Buffer.from(text))).toBe(text);
    expect(explainNuls(text)).toBeUndefined();
  });

  it.each([
    [
      'UTF-16 that was read as UTF-8',
      utf16(TEXT).toString('utf8'),
      /^the text is UTF-16; save the file as UTF-8$/,
    ],
    ['the same in the other order', swapped(TEXT).toString('latin1'), /^the text is UTF-16; save/],
    ['an archive', `PK\x03\x04${'\0'.repeat(9)}${'x'.repeat(500)}\n`, /^the text has NUL characters/],
  ])('cannot be read if they are %s', (_what, text, message) => {
    expect(explainNuls(text)).toMatch(message);
  });
});

describe('typographic quotes', () => {
  it.each([...'“”„‟«»'])('are a problem outside of a string: %s', (quote) => {
    const { entries, problems } = lex(`a CAA 0 issue ${quote}ca.example${quote}\nb A 192.0.2.1`);
    expect(problems).toEqual([`1:15 ${quote} is not a quotation mark here: write " instead`]);
    expect(entries.at(-1)).toBe('b A 192.0.2.1');
  });

  it('cause one problem per line, at any position', () => {
    const text = 'k TXT “v=DKIM1; p=x”\na TXT “two words”\n“b” A 192.0.2.1\nc TXT ( x\n y” “z )';
    const { entries, problems } = lex(text);
    expect(problems.map((problem) => problem.slice(0, 6))).toEqual(['1:7 “ ', '2:7 “ ', '3:1 “ ', '5:2 ” ']);
    expect(entries.map((words) => words.split(' ').slice(0, 2).join(' '))).toEqual([
      '! k',
      '! a',
      '!',
      '! c',
    ]);
  });

  it('are text inside of straight quotes, and in comments', () => {
    expect(lex('said TXT "he said “hi”" ; «x»')).toEqual({
      entries: ['said TXT "he said “hi”"'],
      problems: [],
    });
  });
});

describe('limits', () => {
  it('bound the number of words in an entry', () => {
    const { entries, problems } = lex(`a ${'b '.repeat(70_010)}\nc`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('more words');
    expect(entries.map((words) => words.split(' ').length)).toEqual([70_001, 1]);
  });

  it('bound the length of a word', () => {
    const { entries, problems } = lex(`a ${'b'.repeat(300_001)} "${'c'.repeat(300_001)}"\nd`);
    expect(problems.every((problem) => problem.includes('longer'))).toBe(true);
    expect(problems).toHaveLength(2);
    expect(entries).toEqual(['! a', 'd']);
  });

  it.each([
    ['open parentheses', '('],
    ['open parentheses on separate lines', 'a (\n'],
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
  ])('cause each character to be read only a few times: 40,000 characters of %s', (_what, unit) => {
    const text = unit.repeat(Math.ceil(40_000 / unit.length));
    const reads = countReads(() => lex(text));
    expect(reads).toBeGreaterThanOrEqual(text.length / 2);
    expect(reads).toBeLessThan(6 * text.length);
  });
});

const NO_OCTETS = new Uint8Array();
const A_NAME = parseName('a.example.');

it('signatures get the TTL of the set that they cover, separately for each type (RFC 4034 §3)', () => {
  const record = (type: number, ttl: number, rdata = NO_OCTETS) => ({ owner: A_NAME, type, ttl, rdata });
  const signatureOf = (type: number, ttl: number) => record(TYPE.RRSIG, ttl, Uint8Array.of(0, type));
  const records = [
    signatureOf(TYPE.TXT, 900),
    record(TYPE.A, 60),
    signatureOf(TYPE.A, 120),
    record(TYPE.TXT, 30),
    signatureOf(TYPE.MX, 5),
  ];
  alignTtls(records);
  expect(records.map(({ ttl }) => ttl)).toEqual([30, 60, 60, 30, 5]);
});

describe('a $GENERATE range', () => {
  it.each([
    ['1-254', { start: 1, stop: 254, step: 1, count: 254 }],
    ['0-0', { start: 0, stop: 0, step: 1, count: 1 }],
    ['0-100/4', { start: 0, stop: 100, step: 4, count: 26 }],
    ['1-10/4', { start: 1, stop: 10, step: 4, count: 3 }],
    ['0-2147483647', { start: 0, stop: 2 ** 31 - 1, step: 1, count: 2 ** 31 }],
  ])('%s is parsed, with the number of its values', (text, range) => {
    expect(parseGenerateRange(text)).toEqual(range);
  });

  it.each('|1|1-|-1|2-1|1-2/0|1-2/|a-b|1-2147483648|1-2/99999999999'.split('|'))('%j is none', (text) => {
    expect(() => parseGenerateRange(text)).toThrow(TextError);
  });
});

describe('a $GENERATE template', () => {
  it.each([
    ['host-$', 7, 'host-7'],
    ['$.$', 7, '7.7'],
    ['plain', 7, 'plain'],
    ['a$$b', 7, 'a$b'],
    ['a\\$b', 7, 'a\\$b'],
    ['a\\\\$', 7, 'a\\\\7'],
    ['${0}', 7, '7'],
    ['${1}', 7, '8'],
    ['${-7}', 7, '0'],
    ['${0,3}', 7, '007'],
    ['${0,3,d}x', 1234, '1234x'],
    ['${0,4,o}', 8, '0010'],
    ['${0,4,x}', 171, '00ab'],
    ['${0,0,X}', 171, 'AB'],
    ['${0,0,n}', 0x2f, 'f.2'],
    ['${0,1,n}', 0x2f, 'f.2'],
    ['${0,5,n}', 0x2f, 'f.2.0'],
    ['${0,6,N}', 0x2f, 'F.2.0.'],
    ['${0,2,n}', 1, '1.'],
  ])('%s yields for %i: %s', (template, value, text) => {
    expect(compileTemplate(template)(value)).toBe(text);
  });

  it.each([
    ...'${|${}|${x}|${0|${0,}|${0,3,}|${0,3,q}|${0,256,d}|${0,3,d,1}'.split('|'),
    '$'.repeat(2049),
  ])('%j is invalid', (template) => {
    expect(() => compileTemplate(template)).toThrow(TextError);
  });

  it('does not generate numbers below 0', () => {
    expect(() => compileTemplate('${-8}')(7)).toThrow(TextError);
  });
});

describe('the rdata of $GENERATE', () => {
  const word = (text: string, quoted = false) => ({ text, quoted, line: 3, column: 9 });
  const texts = (words: Parameters<typeof compileRdata>[0]) =>
    compileRdata(words)(5).map(({ text, quoted }) => (quoted ? `"${text}"` : text));

  it.each([
    [[word('10 mail$', true)], ['10', 'mail5']],
    [[word('\\"host $\\" b\\;c', true)], ['"host 5"', 'b\\;c']],
    [
      [word('$0'), word('mail $', true)],
      ['50', '"mail 5"'],
    ],
  ])('is split into words after the number is inserted, if it is one quoted word: %j', (words, expected) => {
    expect(texts(words)).toEqual(expected);
  });

  it('keeps the position of the template, and cannot contain an unclosed quote', () => {
    expect(compileRdata([word('10 mail$', true)])(5)[1]).toMatchObject({ line: 3, column: 9 });
    expect(() => compileRdata([word('\\"$', true)])(5)).toThrow(TextError);
  });
});

const TOP: FileChain = { file: undefined, includedBy: undefined };

it('an included file is read with the escapes in its path resolved', () => {
  const files = new IncludedFiles((path) => `; ${path}`);
  expect(files.read('my\\032zone\\.inc', TOP)).toEqual({ file: 'my zone.inc', text: '; my zone.inc' });
});

it('escapes in the path are octets of UTF-8, and impossible file names are refused', () => {
  const files = new IncludedFiles((path) => path);
  expect(files.read('f\\195\\188r.inc', TOP)?.file).toBe('für.inc');
  expect(files.read('für-😀.inc', TOP)?.file).toBe('für-😀.inc');
  expect(() => files.read('nul\\000.inc', TOP)).toThrow('control characters');
  expect(() => files.read('\\027[31mred.inc', TOP)).toThrow('control characters');
  expect(() => files.read('', TOP)).toThrow('$INCLUDE does not name a file');
});

it('a file that includes itself is refused, and the reason why another cannot be read is reported', () => {
  const files = new IncludedFiles((path) => ({ error: `${path} is away` }));
  const inner: FileChain = { file: 'b', includedBy: { file: 'a', includedBy: TOP } };
  expect(() => files.read('a', inner)).toThrow('"a" includes itself');
  expect(() => files.read('c', inner)).toThrow('c is away');
});

it('a limit is reported once, and nothing is read beyond it', () => {
  const files = new IncludedFiles(() => '');
  let deep = TOP;
  for (let i = 0; i < 16; i++) deep = { file: `f${i}`, includedBy: deep };
  expect(() => files.read('g', deep)).toThrow('more than 16 deep');
  expect(files.read('g', deep)).toBeUndefined();
  expect(() => files.read('f3', deep)).toThrow('"f3" includes itself');
  expect(files.read('f3', deep)).toBeUndefined();
  expect(() => files.read('f4', deep)).toThrow('"f4" includes itself');
  for (let i = 0; i < 1000; i++) expect(files.read('h', TOP)).toBeDefined();
  expect(() => files.read('h', TOP)).toThrow('more than 1000 files');
  expect(files.read('i', TOP)).toBeUndefined();
});

it('no file is read if $INCLUDE is not allowed', () => {
  expect(() => new IncludedFiles(undefined).read('a', TOP)).toThrow('$INCLUDE is not allowed here');
});

it('the limit counts the characters of all files, and is reported for the file that exceeds it', () => {
  const files = new IncludedFiles(() => 'x'.repeat(50 * 2 ** 20));
  files.read('a', TOP);
  files.read('b', TOP);
  expect(() => files.read('c', TOP)).toThrow('characters are included in total');
});

const APEX = parseName('z.test.');

describe('a printed zone', () => {
  it('has $ORIGIN and the most common TTL, the SOA first, and relative owners in canonical order', () => {
    const { records } = parseZoneFile(
      `$ORIGIN z.test.
b.a 60 A 192.0.2.2
\\$ttl TXT "x\\"y"
* 60 A 192.0.2.1
\\@ 60 TXT at
b.a 60 A 192.0.2.1
B 60 MX 10 @
@ 60 A 192.0.2.1
@ 60 NS ns.elsewhere.example.
@ 3600 SOA ns h 1 2 3 4 5
a.b 5 TYPE65280 \\# 1 00
`,
      { origin: APEX, defaultTtlSeconds: 60 },
    );
    expect(printZoneFile(APEX, records)).toBe(`$ORIGIN z.test.
$TTL 60
@                        3600 IN SOA ns.z.test. h.z.test. (
                            1          ; serial
                            2          ; refresh
                            3          ; retry
                            4          ; expire
                            5          ; minimum
                         )
                         IN NS ns.elsewhere.example.
                         IN A 192.0.2.1
\\$ttl                    IN TXT "x\\"y"
*                        IN A 192.0.2.1
\\@                       IN TXT "at"
b.a                      IN A 192.0.2.1
                         IN A 192.0.2.2
b                        IN MX 10 z.test.
a.b                      5 IN TYPE65280 \\# 1 00
`);
  });

  it('of the root has owners without the final dot', () => {
    expect(printZoneFile(ROOT, recordsOf('com. 1 NS a.com.'))).toContain(
      '\ncom                      IN NS a.com.\n',
    );
  });
});

it.each([
  ['records', 'h IN A 192.0.2.1\n IN AAAA 2001:db8::1\n 300 TXT "v=spf1 -all"\nm MX 10 h\nc CNAME h\n'],
  ['one word', 'a'],
  ['one label after another', 'a.'],
  ['one entry of many words', 'a '],
  ['digits', '9'],
  ['escapes', '\\000'],
  ['open quotes', 'a TXT "b\n'],
  ['directives', '$TTL 1\n'],
  ['origins that grow', '$ORIGIN a\n'],
  ['unknown directives', '$X\n'],
  ['zero octets', '\0'],
  ['owners only', 'a\n'],
])('the parser reads each character only a few times: %s', (_, unit) => {
  const text = `$ORIGIN z.test.\n@ 1 SOA ns h 1 2 3 4 5\n${unit.repeat(Math.ceil(25_000 / unit.length))}`;
  let zone = parseZoneFile('');
  const reads = countReads(() => {
    zone = parseZoneFile(text);
  });
  expect(zone.records.length > 500).toBe(unit.startsWith('h'));
  expect(zone.problems.length).toBeLessThanOrEqual(1000);
  expect(reads).toBeLessThan(20 * text.length);
});

const PLACE = { line: 2, column: 3 };

describe('the problems of a zone file', () => {
  it('have the position and field of the error if it has them', () => {
    const problems = new ZoneFileProblems(undefined);
    const fail = (error: Error) => () => {
      throw error;
    };
    problems.attempt(PLACE, 'owner', fail(new TextError('one')));
    problems.attempt(PLACE, 'owner', fail(new TextError('two', { field: 'port', line: 8, column: 9 })));
    problems.attempt(PLACE, undefined, fail(new WireError('three')));
    expect(problems.list).toEqual([
      { line: 2, column: 3, field: 'owner', message: 'one' },
      { line: 8, column: 9, field: 'port', message: 'two' },
      { line: 2, column: 3, message: 'three' },
    ]);
  });

  it('do not include errors that are bugs, which are thrown', () => {
    const problems = new ZoneFileProblems(undefined);
    expect(() =>
      problems.attempt(PLACE, undefined, () => {
        throw new RangeError('a bug');
      }),
    ).toThrow(RangeError);
  });

  it('do not quote a whole file', () => {
    const problems = new ZoneFileProblems(undefined);
    problems.add(PLACE, 'x'.repeat(1_000_000));
    expect(problems.list[0]?.message.length).toBeLessThan(500);
  });

  it('are sorted by position within each file', () => {
    const problems = new ZoneFileProblems(undefined);
    problems.add({ line: 9, column: 1 }, 'c');
    problems.in('z.inc').add({ line: 1, column: 1 }, 'd');
    problems.add({ line: 2, column: 5 }, 'b');
    problems.add({ line: 2, column: 4 }, 'a');
    problems.sort();
    expect(problems.list.map(({ message }) => message).join('')).toBe('abcd');
  });
});
