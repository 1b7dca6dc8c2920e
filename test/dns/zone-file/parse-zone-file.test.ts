// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are the templates of $GENERATE
import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import type { ZoneFile, ZoneFileOptions } from '../../../src/dns/zone-file/zone-file.ts';
import { itemsOf, rowsOf, wordsOf } from '../../support/tests/rows-of.ts';

const ORIGIN = parseName('z.test.');

function show({ records }: ZoneFile): string[] {
  return records.map(
    ({ owner, ttl, type, rdata }) =>
      `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
}

function places({ problems }: ZoneFile): string[] {
  return problems.map(({ file, line, column, field }) =>
    [file, line, column, field].filter(Boolean).join(':'),
  );
}

/** Returns the records of text in the zone z.test. with a TTL of 300. There must be no problem. */
function parse(text: string, options: ZoneFileOptions = {}): string[] {
  const zone = parseZoneFile(text, { origin: ORIGIN, defaultTtlSeconds: 300, ...options });
  expect(zone.problems).toEqual([]);
  return show(zone);
}

function problemsOf(text: string, options: ZoneFileOptions = {}): string[] {
  return places(parseZoneFile(text, { origin: ORIGIN, defaultTtlSeconds: 300, ...options }));
}

function includeFrom(files: Readonly<Record<string, string>>): ZoneFileOptions['include'] {
  return (path) => files[path] ?? { error: `no ${path}` };
}

describe('owners', () => {
  it.each([
    ['a A 192.0.2.1', ['a.z.test. 300 A 192.0.2.1']],
    ['A.Z.TEST. A 192.0.2.1', ['a.z.test. 300 A 192.0.2.1']],
    ['@ A 192.0.2.1\n A 192.0.2.2', ['z.test. 300 A 192.0.2.1', 'z.test. 300 A 192.0.2.2']],
    ['a A 192.0.2.1\n\n; c\n\tA 192.0.2.2', ['a.z.test. 300 A 192.0.2.1', 'a.z.test. 300 A 192.0.2.2']],
    ['* TXT x', ['*.z.test. 300 TXT "x"']],
    ['\\@ TXT x', ['\\@.z.test. 300 TXT "x"']],
    ['a\\.b\\000\\032c TXT x', ['a\\.b\\000\\032c.z.test. 300 TXT "x"']],
    ['in A 192.0.2.1', ['in.z.test. 300 A 192.0.2.1']],
    ['300 A 192.0.2.1', ['300.z.test. 300 A 192.0.2.1']],
    ['\\$ttl A 192.0.2.1', ['\\$ttl.z.test. 300 A 192.0.2.1']],
  ])('are read from %j', (text, records) => {
    expect(parse(text)).toEqual(records);
  });

  it('outside the zone cause one problem each, and no records', () => {
    const text = '$ORIGIN .\nz.test. A 192.0.2.1\ny.test. A 192.0.2.1\n\tA 192.0.2.2\nzz.test. A 192.0.2.1';
    const zone = parseZoneFile(text, { origin: ORIGIN, defaultTtlSeconds: 1 });
    expect(places(zone)).toEqual(['3:1:owner', '4:2:owner', '5:1:owner']);
    expect(show(zone)).toEqual(['z.test. 1 A 192.0.2.1']);
  });

  it.each([
    ['\u00fc A 192.0.2.1', '1:1:owner'],
    ['"a" A 192.0.2.1', '1:1:owner'],
    ['a..b A 192.0.2.1', '1:1:owner'],
    [`${'a'.repeat(64)} A 192.0.2.1`, '1:1:owner'],
    [`${'a.'.repeat(125)} A 192.0.2.1\n${'a.'.repeat(128)}b A 192.0.2.1`, '1:1:owner'],
    ['a\\256 A 192.0.2.1', '1:1:owner'],
    ['\tA 192.0.2.1', '1:2:owner'],
  ])('are a problem in %j', (text, place) => {
    expect(problemsOf(text)[0]).toBe(place);
  });

  it('in Unicode are refused with a suggestion', () => {
    const { problems } = parseZoneFile('b\u00fccher A 192.0.2.1', { origin: ORIGIN, defaultTtlSeconds: 1 });
    expect(problems[0]?.message).toContain('A-label');
  });
});

describe('TTLs', () => {
  it.each(
    rowsOf(`
the record’s own | $TTL 60 / @ 50 SOA / a 40 A 192.0.2.1 | 50 40
then that of $TTL (RFC 2308 §4) | $TTL 60 / @ 50 SOA / a A 192.0.2.1 / $TTL 1h / b A 192.0.2.1 | 50 60 3600
then that of the previous record (RFC 1035 §5.1) | @ 50 SOA / a A 192.0.2.1 / b 40 A 192.0.2.1 / c A 192.0.2.1 | 50 50 40 40
then MINIMUM for the SOA and later records | @ SOA / a A 192.0.2.1 | 777 777`),
  )('are %s', (_rule, text = '', ttls) => {
    const zone = parseZoneFile(itemsOf(text.replace('SOA', 'SOA ns h 1 2 3 4 777')).join('\n'), {
      origin: ORIGIN,
    });
    expect(zone.problems).toEqual([]);
    expect(zone.records.map(({ ttl }) => ttl).join(' ')).toBe(ttls);
  });

  it('of one set become the first one of the set (RFC 2181 §5.2)', () => {
    const text = 'a 60 A 192.0.2.1\nb 5 A 192.0.2.1\nA 70 A 192.0.2.2\na 80 TXT x\na 50 A 192.0.2.3';
    expect(parseZoneFile(text, { origin: ORIGIN }).records.map(({ ttl }) => ttl)).toEqual([
      60, 5, 60, 80, 60,
    ]);
  });

  it('that are missing cause one problem, not one per line', () => {
    const zone = parseZoneFile('a A 192.0.2.1\nb A 192.0.2.1', { origin: ORIGIN });
    expect(places(zone)).toEqual(['1:1:ttl']);
  });

  it('above 2^31-1 are a problem, but a MINIMUM is capped', () => {
    expect(problemsOf('a 2147483648 A 192.0.2.1\n$TTL 4294967295')).toEqual(['1:3:ttl', '2:6:ttl']);
    const zone = parseZoneFile('@ SOA ns h 1 2 3 4 4294967295', { origin: ORIGIN });
    expect(zone.records[0]?.ttl).toBe(2 ** 31 - 1);
  });
});

describe('TTL, class and type', () => {
  it.each([
    ['a A 192.0.2.1', ['a.z.test. 300 A 192.0.2.1']],
    ['a IN A 192.0.2.1', ['a.z.test. 300 A 192.0.2.1']],
    ['a 60 IN A 192.0.2.1', ['a.z.test. 60 A 192.0.2.1']],
    ['a IN 60 A 192.0.2.1', ['a.z.test. 60 A 192.0.2.1']],
    ['a in 1h30m mx 1 b', ['a.z.test. 5400 MX 1 b.z.test.']],
    ['a CLASS1 1W TYPE65280 \\# 0', ['a.z.test. 604800 TYPE65280 \\# 0']],
    ['a 2147483647 A 192.0.2.1', ['a.z.test. 2147483647 A 192.0.2.1']],
  ])('are read from %j', (text, records) => {
    expect(parse(text)).toEqual(records);
  });

  it.each([
    ['2147483648 A x', '1:3:ttl the TTL 2147483648 is more than 2147483647'],
    ['3551w A x', '1:3:ttl the TTL 3551w is more than 2147483647'],
    ['1h30 A x', '1:3:ttl "1h30" is not a TTL such as 3600 or 1h30m'],
    ['99999999999999999999 A x', '1:3:ttl "99999999999999999999" is not a TTL such as 3600 or 1h30m'],
    ['300 300 A x', '1:7:type "300" is not a known record type'],
    ['IN IN A x', '1:6:type "IN" is not a known record type'],
    ['CH A x', '1:3:class class CH is not served, only IN'],
    ['CLASS255 A x', '1:3:class class CLASS255 is not served, only IN'],
    ['FOO x', '1:3:type "FOO" is not a known record type'],
    ['TYPE65536 x', '1:3:type "TYPE65536" is not a known record type'],
    ['"A" x', '1:3:type "A" is not a known record type'],
    ['ANY x', '1:3:type a zone cannot hold records of type ANY'],
    ['OPT x', '1:3:type a zone cannot hold records of type OPT'],
    ['TYPE0 x', '1:3:type a zone cannot hold records of type TYPE0'],
    ['TYPE200 x', '1:3:type a zone cannot hold records of type TYPE200'],
    ['300 IN', '1:7:type the line ends before a record type'],
  ])('are a problem in "%s"', (text, problem) => {
    const zone = parseZoneFile(`a ${text}`, { origin: ORIGIN, defaultTtlSeconds: 300 });
    const [first] = zone.problems;
    expect(`${places(zone)[0]} ${first?.message.replace(/ \(.*/, '')}`).toBe(problem);
  });
});

describe('the origin', () => {
  it('is the owner of the SOA if none is given', () => {
    const zone = parseZoneFile('$TTL 1\n$ORIGIN test.\nb.Z A 192.0.2.1\nZ SOA ns h 1 2 3 4 5\n');
    expect(zone.problems).toEqual([]);
    expect(printName(zone.origin)).toBe('z.test.');
    expect(show(zone)[0]).toBe('b.z.test. 1 A 192.0.2.1');
  });

  it('changes with $ORIGIN, absolute or relative', () => {
    expect(parse('$ORIGIN a\nx TXT y\n$origin B\nx TXT y\n$ORIGIN z.test.\nx MX 1 @')).toEqual([
      'x.a.z.test. 300 TXT "y"',
      'x.b.a.z.test. 300 TXT "y"',
      'x.z.test. 300 MX 1 z.test.',
    ]);
  });

  it('is unknown without an SOA, and relative names require it', () => {
    expect(places(parseZoneFile('a.z.test. 1 A 192.0.2.1'))).toEqual(['1:1']);
    expect(places(parseZoneFile(''))).toEqual(['1:1']);
    const zone = parseZoneFile('z.test. 1 SOA ns. h. 1 2 3 4 5\na A 192.0.2.1\nz.test. MX 1 a');
    expect(places(zone)).toEqual(['2:1:owner', '3:14:exchange']);
  });

  it('is known from an SOA with invalid rdata, so that it is not reported as missing', () => {
    const zone = parseZoneFile('z.test. 1 SOA ns. h. 1 2 3 4\na.z.test. A 192.0.2.1');
    expect(zone.problems).toHaveLength(1);
    expect(show(zone)).toEqual(['a.z.test. 1 A 192.0.2.1']);
  });
});

describe('an SOA at the root', () => {
  const EXPORT = '$TTL 1h\n$ORIGIN .\n@ SOA ns.z.test. h.z.test. 1 2 3 4 5\nz.test. NS ns.z.test.';

  it('is reported with the $ORIGIN that puts it there', () => {
    const zone = parseZoneFile(EXPORT, { origin: ORIGIN });
    expect(zone.problems).toMatchObject([
      {
        line: 3,
        field: 'owner',
        message: 'the SOA is at the root (.) because of $ORIGIN . in line 2; it must be at z.test.',
      },
    ]);
  });

  it.each([
    [EXPORT, 2],
    ['$TTL 1h\n. SOA a. b. 1 2 3 4 5', undefined],
    [`$ORIGIN .\n$TTL 1h\nz.test. SOA a. b. 1 2 3 4 5`, undefined],
  ])('yields a zone for the root, and the line of the $ORIGIN is known: %j', (text, line) => {
    expect(parseZoneFile(text).rootOriginLine).toBe(line);
  });
});

describe('the export of Windows DNS', () => {
  const leftOut = (text: string) =>
    parseZoneFile(text, { origin: ORIGIN, defaultTtlSeconds: 1 }).leftOut.map(
      ({ owner, line, type, reason }) => `${line} ${printName(owner)} ${type}: ${reason}`,
    );

  it.each([
    '@ [AGE:3700001] 600 A 192.0.2.30\n [AGE:3700002] 600 A 192.0.2.31',
    '@ [Aging:1] 600 IN A 192.0.2.30\n 600 [aging:2] A 192.0.2.31',
  ])('has ages before its TTLs, which are skipped: %j', (text) => {
    expect(parse(text)).toEqual(['z.test. 600 A 192.0.2.30', 'z.test. 600 A 192.0.2.31']);
  });

  it('has WINS records, which are omitted', () => {
    const text =
      '@ WINS L1 C900 ( 192.0.2.33 )\n 0 IN WINSR L1 C900 ( z.test. )\nx wins-r L1\ny TYPE65281 \\# 0';
    expect(parse(text)).toEqual(['y.z.test. 300 TYPE65281 \\# 0']);
    const reason = 'only Windows DNS has records of this type';
    expect(leftOut(text)).toEqual([
      `1 z.test. WINS: ${reason}`,
      `2 z.test. WINSR: ${reason}`,
      `3 x.z.test. WINS-R: ${reason}`,
    ]);
  });

  it('does not omit records that $GENERATE generates', () => {
    expect(problemsOf('$GENERATE 1-2 wins A 192.0.2.$')).toEqual([]);
    expect(problemsOf('$GENERATE 1-2 a$ WINS x')).toEqual(['1:18:type']);
  });
});

describe('text with NUL characters', () => {
  const UTF16 = Buffer.from('$TTL 900\nshop A 192.0.2.21\nwww A 192.0.2.22\n', 'utf16le').toString('utf8');

  it('causes one problem and no records, with or without an origin', () => {
    for (const options of [{ origin: ORIGIN }, {}]) {
      const { problems, records } = parseZoneFile(UTF16, options);
      const message = 'the text is UTF-16; save the file as UTF-8';
      expect([problems, records]).toEqual([[{ line: 1, column: 1, message }], []]);
    }
  });

  it('is reported with its file name if it is included', () => {
    const zone = parseZoneFile('$INCLUDE x\na 1 A 192.0.2.1', { origin: ORIGIN, include: () => UTF16 });
    expect(places(zone)).toEqual(['x:1:1']);
    expect(show(zone)).toEqual(['a.z.test. 1 A 192.0.2.1']);
  });
});

describe('directives', () => {
  it.each([
    ['$FOO bar', '1:1'],
    [' $TTL 300', '1:2'],
    ['$TTL', '1:1'],
    ['$TTL x', '1:6:ttl'],
    ['$TTL 1 2', '1:8'],
    ['$ORIGIN', '1:1'],
    ['$ORIGIN a..b', '1:9:origin'],
    ['$ORIGIN a b', '1:11'],
    ['$INCLUDE', '1:1'],
    ['$INCLUDE a', '1:10'],
    ['$GENERATE 1-2 a A', '1:17'],
    ['$GENERATE 2-1 a A 192.0.2.1', '1:11:range'],
    ['$GENERATE 1-2 ${ A 192.0.2.1', '1:15:owner'],
    ['$GENERATE 1-2 a$ FOO 192.0.2.1', '1:18:type'],
    ['$GENERATE 1-2 a$ A 192.0.2.${', '1:20'],
    ['$GENERATE 254-300 a$ A 192.0.2.$', '1:24:address'],
    ['$GENERATE 1-2 a..$ A 192.0.2.$', '1:15:owner'],
  ])('are a problem in %j', (text, place) => {
    expect(problemsOf(text)).toEqual([place]);
  });

  it('$GENERATE generates records, and the previous owner stays in effect', () => {
    expect(parse('x TXT 1\n$GENERATE 1-5/2 h${0,2} 60 IN A 192.0.2.$\n TXT 2')).toEqual([
      'x.z.test. 300 TXT "1"',
      'h01.z.test. 60 A 192.0.2.1',
      'h03.z.test. 60 A 192.0.2.3',
      'h05.z.test. 60 A 192.0.2.5',
      'x.z.test. 300 TXT "2"',
    ]);
  });

  it('$GENERATE has total limits for records and characters', () => {
    const line = '$GENERATE 1-65536 h$ A x'; // counts even though its first record ends it
    expect(problemsOf(`${line}\n$GENERATE 1-1 h$ A 192.0.2.1`)).toEqual(['1:24:address', '2:11:range']);
    expect(problemsOf('$GENERATE 0-2147483647 h$ A 192.0.2.1')).toEqual(['1:11:range']);
    const wide = `$GENERATE 1-65000 h TYPE65280 \\# 12000 ${'${0,250,x} '.repeat(96)}`;
    const zone = parseZoneFile(wide, { origin: ORIGIN, defaultTtlSeconds: 1 });
    expect(places(zone)).toEqual(['1:19']);
    expect(zone.records.length).toBeLessThan(1000);
  });
});

describe('$INCLUDE', () => {
  it('restores origin and owner after the file, and passes both to it', () => {
    const include = includeFrom({ 'a.inc': ' TXT in\n$ORIGIN deep\nb TXT b\n', 'c d.inc': 'c TXT c' });
    const text = 'x TXT x\n$INCLUDE a.inc\n TXT back\n$INCLUDE "c d.inc" sub\n TXT again\ny TXT y';
    expect(parse(text, { include })).toEqual([
      'x.z.test. 300 TXT "x"',
      'x.z.test. 300 TXT "in"',
      'b.deep.z.test. 300 TXT "b"',
      'x.z.test. 300 TXT "back"',
      'c.sub.z.test. 300 TXT "c"',
      'x.z.test. 300 TXT "again"',
      'y.z.test. 300 TXT "y"',
    ]);
  });

  it('names the included file in its problems and records, and the outer file elsewhere', () => {
    const include = includeFrom({
      'a.inc': 'a A x\nb.out. A 192.0.2.1\nc A 192.0.2.1\n$INCLUDE b.inc',
      'b.inc': '\nb A x',
    });
    const zone = parseZoneFile('$INCLUDE a.inc\nd A x\n$INCLUDE none\n', {
      origin: ORIGIN,
      defaultTtlSeconds: 1,
      file: 'z.zone',
      include,
    });
    expect(places(zone).sort()).toEqual(
      wordsOf(`
      a.inc:1:5:address a.inc:2:1:owner b.inc:2:5:address z.zone:2:5:address z.zone:3:10`),
    );
    expect(zone.records[0]).toMatchObject({ file: 'a.inc', line: 3, column: 1 });
  });
});

describe('problems', () => {
  it('are all found, each at its position', () => {
    const text = [
      '$TTL 1h',
      '@ SOA ns h 1 2 3 4',
      'a A 192.0.2.256',
      'b AAAA 2001:db8::1::2 ; comment',
      'c MX mail',
      'd 1x A 192.0.2.1',
      'e FOO bar',
      '$BAR',
      'f TXT "open',
      'g CH TXT x',
      'h ( A',
      'i A 192.0.2.1 )',
      'j A 192.0.2.1 192.0.2.2',
      'k..l A 192.0.2',
      'm A 192.0.2.1',
    ].join('\r\n');
    const zone = parseZoneFile(text, { origin: ORIGIN });
    expect(places(zone)).toEqual(
      wordsOf(`
      2:18:minimum 3:5:address 4:8:address 5:6:preference 6:3:ttl 7:3:type 8:1 9:7 10:3:class
      12:1:address 13:15:address 14:1:owner 14:8:address`),
    );
    expect(show(zone).at(-1)).toBe('m.z.test. 3600 A 192.0.2.1');
  });

  it('are limited to 1000, and the rest of the file is not read', () => {
    const zone = parseZoneFile('a A x\n'.repeat(3000), { origin: ORIGIN });
    expect(zone.problems).toHaveLength(1000);
    expect(zone.problems.at(-1)?.message).toContain('not read');
  });
});

describe('rdata', () => {
  it.each([
    ['a TYPE65280 \\# 3 ab ( cd\n ef )', ['a.z.test. 300 TYPE65280 \\# 3 ABCDEF']],
    ['a A \\# 4 C0000201', ['a.z.test. 300 A 192.0.2.1']],
    ['a TYPE1 192.0.2.1', ['a.z.test. 300 A 192.0.2.1']],
    ['a TXT x"y"z', ['a.z.test. 300 TXT "x" "y" "z"']],
    ['a TXT k="v"', ['a.z.test. 300 TXT "k=" "v"']],
    ['a TXT ( "x"\n\n;c\n"y" )', ['a.z.test. 300 TXT "x" "y"']],
    ['a TXT "x\n y" z\nb A 192.0.2.1', ['a.z.test. 300 TXT "x\\010 y" "z"', 'b.z.test. 300 A 192.0.2.1']],
    ['a HTTPS 1 . alpn="h2,h3" port=8443', ['a.z.test. 300 HTTPS 1 . alpn=h2,h3 port=8443']],
    ['a SOA b c ( 1 1h 2H 1w2d 1m )', ['a.z.test. 300 SOA b.z.test. c.z.test. 1 3600 7200 777600 60']],
  ])('is read from %j', (text, records) => {
    expect(parse(text)).toEqual(records);
  });
});
