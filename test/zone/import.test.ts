import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { inOneGo } from '../../src/dns/zone-file/in-one-go.ts';
import type { RecordText } from '../../src/zone/edit/parse-edit.ts';
import type { EditState } from '../../src/zone/edit/plan-edit.ts';
import { ImportMerge } from '../../src/zone/import/merge-import.ts';
import { type ParsedRecords, parseRecords } from '../../src/zone/import/parse-records.ts';
import { printRecords } from '../../src/zone/import/print-records.ts';
import { type ImportText, type ReadImport, readImport } from '../../src/zone/import/read-import.ts';
import { parseSettingsComment, printSettingsComment } from '../../src/zone/import/settings-comment.ts';
import {
  type CustomerRecord,
  DEFAULT_SETTINGS,
  ORIGIN_SCHEMES,
  type RecordSettings,
  SETTING_NAMES,
  setKey,
} from '../../src/zone/records/customer-record.ts';
import { anyCharacter } from '../support/random/any-character.ts';
import { anything, domainOf, stateOf } from '../support/random/random-edits.ts';
import { itemsOf, rowsOf, wordsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import {
  APEX,
  applied,
  editState,
  records,
  recordText,
  type StateOptions,
  showOperation,
  showProblem,
  stored,
} from '../support/zone/customer-records.ts';
import { planEdit } from '../support/zone/plan-edit.ts';

function read(items: readonly ImportText[]): ReadImport {
  return inOneGo(readImport(items, APEX));
}

describe('an import', () => {
  it.each(
    rowsOf(`
adds | | a A 192.0.2.1 / a TXT x | + a 300 A 192.0.2.1 / + a 300 TXT x |
replaces rows one by one | a A 192.0.2.1 | a A 192.0.2.2 | ~ 1: a 300 A 192.0.2.2 |
keeps rows with equal content | a A 192.0.2.1 / a A 192.0.2.2 | a A 192.0.2.2 | - 1: a 300 A 192.0.2.1 |
does not change other sets | a A 192.0.2.1 / b A 192.0.2.1 | a A 192.0.2.1 | |
adds equal TXT | a TXT x | a TXT x / a TXT x | + a 300 TXT x / + a 300 TXT x |
gives the set the TTL that it specifies | a 300 A 192.0.2.1 / a 300 A 192.0.2.2 | a 600 A 192.0.2.1 / a A 192.0.2.2 | ~ 1: a 600 A 192.0.2.1 / ~ 2: a 600 A 192.0.2.2 |
keeps a row’s settings for the edge | a A 192.0.2.1 ; proxied captcha | a A 192.0.2.2 ; proxied=false comment=x | ~ 1: a 300 A 192.0.2.2 ; proxied captcha comment=x |
prefers the existing kind | a CNAME x.example.net | a A 192.0.2.1 / a CNAME y.example.net / a TXT x | ~ 1: a 300 CNAME y.example.net | 0 / 2
adds nothing if every item conflicts | a CNAME x. | a A 192.0.2.1 / a TXT x | | 0 / 1
adds one DNAME at a name | | a DNAME x. / a DNAME y. / a MX 10 y. | + a 300 DNAME x. / + a 300 MX 10 y. | 1
adds nothing below a DNAME | | b.a A 192.0.2.1 / a DNAME x. | + a 300 DNAME x. | 0
adds no DNAME above an existing name | b.a A 192.0.2.1 | a DNAME x. / a A 192.0.2.1 | + a 300 A 192.0.2.1 | 0
prefers the first kind | | a CNAME x. / a A 192.0.2.1 / a CNAME y. | + a 300 CNAME x. | 1 / 2
accepts an ANAME together with records that are not addresses | | a ANAME x. / a MX 10 y. / a A 192.0.2.1 | + a 300 ANAME x. / + a 300 MX 10 y. | 2`),
  )('%s', (_, before, items, ops, failed) => {
    expect(show(itemsOf(before), itemsOf(items))).toEqual([itemsOf(ops), itemsOf(failed).map(Number)]);
  });

  it('reports the plan’s limit without blaming an item', () => {
    const items = ['a A 192.0.2.1', 'b A 192.0.2.1', 'c A 192.0.2.1 ; timeout=0'];
    expect(show([], items, { maxRecords: 1 })).toEqual([['plan_limit create[0]'], [2]]);
  });

  it('with hundreds of items that conflict at one name takes few rounds', () => {
    const items = Array.from({ length: 500 }, (_, i): RecordText => {
      return { name: 'a', type: 'TXT', destination: `t${i}` };
    });
    const alias: RecordText = { name: 'a', type: 'CNAME', destination: 'x.example.net' };
    const { rounds, merge } = plan(stateOf([]), [...items, alias]);
    expect([rounds, [...merge.failed.keys()]]).toEqual([2, [500]]);
  });

  it('leaves out items that do not fit into their set, in few rounds', () => {
    const texts = (destinations: string[]) =>
      destinations.map((destination): RecordText => ({ name: 'a', type: 'TXT', destination }));
    const big = 'x'.repeat(40_000);
    const two = plan(stateOf([]), texts(['small', big, big]));
    expect([two.rounds, [...two.merge.failed.keys()]]).toEqual([2, [2]]);
    const many = plan(stateOf([]), texts(Array.from({ length: 540 }, (_, i) => `${i}`.padEnd(240, 'x'))));
    expect([many.rounds, many.merge.edit.creates.length + many.merge.failed.size]).toEqual([2, 540]);
    expect(many.merge.edit.creates.length).toBeGreaterThan(200);
  });

  it('ends, in order, with every item applied or reported', () => {
    const list = fc.array(anything.record, { maxLength: 14 });
    fc.assert(
      fc.property(fc.array(anything.record, { maxLength: 16 }).map(domainOf), list, (before, items) => {
        const { planned, merge, rounds } = plan(stateOf(before), items);
        if (planned.kind !== 'change') throw new Error(JSON.stringify(planned.problems));
        const { creates, updates, deletes } = merge.edit;
        expect(creates.length + updates.length + merge.failed.size).toBe(items.length);
        expect(rounds).toBeLessThanOrEqual(items.length + 1);
        const after: CustomerRecord[] = applied(before, planned.ops);
        expect(after.length).toBe(before.length + creates.length - deletes.length);
        // the result is valid: writing a row again causes no problem
        const [first] = after;
        if (first === undefined) return;
        const again = planEdit(stateOf(after), {
          deletes: [],
          replaces: [],
          creates: [],
          updates: after.map(({ id, rdata }) => ({ id, set: { rdata }, allowEqualTxt: true })),
        });
        expect(again.kind).toBe('change');
      }),
      { numRuns: scale(100, 10) },
    );
  });

  /** Plans like `saveEdit`. */
  function plan(state: EditState, items: readonly RecordText[]) {
    const merge = new ImportMerge(read(items), state.records);
    let planned = planEdit(state, merge.edit);
    let rounds = 1;
    while (planned.kind === 'problems') {
      const smaller = merge.without(planned.problems);
      if (smaller === undefined) break;
      planned = planEdit(state, smaller);
      rounds++;
    }
    return { planned, merge, rounds };
  }

  /** Returns the operations, and the failed items. */
  function show(before: readonly string[], items: readonly string[], rest: StateOptions = {}) {
    const { planned, merge } = plan(
      editState(before, rest),
      items.map((line) => recordText(line)),
    );
    const ops =
      planned.kind === 'change' ? planned.ops.map(showOperation) : planned.problems.map(showProblem);
    return [ops, [...merge.failed.keys()].sort((a, b) => a - b)];
  }
});

/** Imports items written as `host` or `priority host`. */
function importMx(before: readonly string[], items: readonly string[]): string[] {
  const state = editState(before);
  const read = inOneGo(
    readImport(
      items.map((item) => {
        const [host, priority] = item.split(' ').toReversed() as [string, string | undefined];
        const given = priority === undefined ? {} : { mx_priority: Number(priority) };
        return { name: '@', type: 'MX', destination: host, ...given };
      }),
      APEX,
    ),
  );
  expect([...read.unread]).toEqual([]);
  const planned = planEdit(state, new ImportMerge(read, state.records).edit);
  if (planned.kind !== 'change') throw new Error(JSON.stringify(planned.problems));
  return planned.ops.map(showOperation);
}

it.each(
  rowsOf(`
is 10 for a new set | | a.example.net | + @ 300 MX 10 a.example.net
is 10 for an item without a row to replace | @ MX 20 a.example.net | a.example.net / b.example.net | + @ 300 MX 10 b.example.net
does not change for an existing host | @ MX 20 a.example.net | a.example.net. |
is that of the replaced row | @ MX 20 a.example.net | b.example.net | ~ 1: @ 300 MX 20 b.example.net
is that of the same host, in any order | @ MX 20 a.example.net / @ MX 30 b.example.net | b.example.net / a.example.net |
does not come from a row that another item specifies in full | @ MX 20 a.example.net / @ MX 30 a.example.net | a.example.net / 20 a.example.net |
is replaced by a specified one | @ MX 20 a.example.net | 0 a.example.net | ~ 1: @ 300 MX 0 a.example.net`),
)('the priority of an imported MX record without one %s', (_, before, items, ops) => {
  expect(importMx(itemsOf(before), itemsOf(items))).toEqual(itemsOf(ops));
});

describe('parsing records', () => {
  const APEX = parseName('example.com.');

  function parse(text: string): ParsedRecords {
    return inOneGo(parseRecords(text, APEX));
  }

  /** Prints `www 300 A 192.0.2.1`, MX with its priority in front, and all other fields. */
  function lines(text: string): string[] {
    return parse(text).records.map(({ name, ttl, type, mx_priority, destination, ...more }) => {
      const settings = Object.keys(more).length > 0 ? ` ${JSON.stringify(more)}` : '';
      return `${name} ${ttl} ${type} ${mx_priority === undefined ? '' : `${mx_priority} `}${destination}${settings}`;
    });
  }

  function errors(text: string): string[] {
    return parse(text).errors.map(({ line, column }) => `${line}:${column}`);
  }

  describe('a zone file', () => {
    it.each([
      ['www A 192.0.2.1', ['www 300 A 192.0.2.1']],
      ['@ MX 10 mail', ['@ 300 MX 10 mail.example.com']],
      ['example.com. 60 IN MX 0 .', ['@ 60 MX 0 .']],
      ['$TTL 1h\n@ TXT "v=spf1 " "-all"', ['@ 3600 TXT "v=spf1 " "-all"']],
      ['a TXT "x\\000y"', ['a 300 TXT "x\\000y"']],
      ['$ORIGIN sub\na A 192.0.2.1\n\tAAAA ::1', ['a.sub 300 A 192.0.2.1', 'a.sub 300 AAAA ::1']],
      [
        'a 1 A 192.0.2.1\nb 1w A 192.0.2.1\nc A 192.0.2.1',
        ['a 60 A 192.0.2.1', 'b 86400 A 192.0.2.1', 'c 86400 A 192.0.2.1'],
      ],
      ['$GENERATE 1-2 h$ A 192.0.2.$', ['h1 300 A 192.0.2.1', 'h2 300 A 192.0.2.2']],
      [
        '@ ANAME lb.example.net.\nw IN ALIAS lb',
        ['@ 300 ANAME lb.example.net', 'w 300 ANAME lb.example.com'],
      ],
      ['_s._tcp SRV 1 2 3 h', ['_s._tcp 300 SRV 1 2 3 h.example.com']],
      ['w HTTPS 1 . alpn=h2', ['w 300 HTTPS 1 . alpn=h2']],
      ['d DNAME new', ['d 300 DNAME new.example.com']],
      [
        'w HINFO "ARM64" LINUX\nw LOC 52 N 4 E 0m',
        ['w 300 HINFO "ARM64" "LINUX"', 'w 300 LOC 52 0 0.000 N 4 0 0.000 E 0.00m 1m 10000m 10m'],
      ],
      [
        'w CERT PGP 0 0 AAAA\nw OPENPGPKEY AA AA\nw SMIMEA 3 0 1 ab cd',
        ['w 300 CERT 3 0 0 AAAA', 'w 300 OPENPGPKEY AAAA', 'w 300 SMIMEA 3 0 1 ABCD'],
      ],
      [
        'w TYPE65280 \\# 2 ab cd\nw TYPE1 \\# 4 c0000201',
        ['w 300 TYPE65280 \\# 2 ABCD', 'w 300 A 192.0.2.1'],
      ],
      ['www.example.com A 192.0.2.1', ['www.example.com.example.com. 300 A 192.0.2.1']],
      ['w A 192.0.2.1 ; zonefleet proxied=true port=80', ['w 300 A 192.0.2.1 {"proxied":true,"port":80}']],
      ['w TXT ( "a" ; one\n "b" ) ; zonefleet comment="two"', ['w 300 TXT "a" "b" {"comment":"two"}']],
      ['w TXT "; zonefleet proxied=true"', ['w 300 TXT ; zonefleet proxied=true']],
      ['t TXT x\nt TXT x', ['t 300 TXT x', 't 300 TXT x']],
      ['a A 192.0.2.1\rb A 192.0.2.2\r', ['a 300 A 192.0.2.1', 'b 300 A 192.0.2.2']],
      [
        't TXT x ; cf_tags=cf-proxied:true\nu TXT x ; zonefleet proxied=true comment="y"',
        ['t 300 TXT x', 'u 300 TXT x {"comment":"y"}'],
      ],
      ['', []],
    ])('is read as import items: %j', (text, expected) => {
      expect([lines(text), errors(text)]).toEqual([expected, []]);
    });

    it('reports every line that it cannot read, and reads the others', () => {
      const text = itemsOf(
        `a A 192.0.2.256 / b A 192.0.2.1 / b..c A 192.0.2.1 / \tTXT "of no owner" / $INCLUDE x / c BOGUS x /
d TXT "open / e MX ( 10 / f A 192.0.2.2 ; zonefleet proxy=true / g.example.net. A 192.0.2.1 / h CNAME . /
i.*.j A 192.0.2.1 / k NS *.x / $ORIGIN a..b. / l A 192.0.2.1 / m.example.com. A 192.0.2.3 /
n.example.com. CNAME m / $ORIGIN example.com. / $GENERATE 1-70000 h$ A 192.0.2.1 / o A 192.0.2.4`.replaceAll(
          ' /\n',
          ' / ',
        ),
      ).join('\n');
      expect(errors(text)).toEqual(
        wordsOf(`1:5 3:1 4:2 5:10 6:3 7:7 8:6 9:1 10:1 11:1 12:1 13:1 14:9 15:1 17:22 19:11`),
      );
      expect(lines(text)).toEqual(['b 300 A 192.0.2.1', 'm 300 A 192.0.2.3', 'o 300 A 192.0.2.4']);
    });

    it.each<[string, string[], string[]]>([
      ['a A 192.0.2.1\n"d TXT x\n TXT "ford"', ['2:1', '3:2'], ['a 300 A 192.0.2.1']],
      ['a A 192.0.2.1\nd\\\n TXT "ford"', ['2:2', '3:2'], ['a 300 A 192.0.2.1']],
      ['a A 192.0.2.1\n "d\n TXT x', ['2:2'], ['a 300 A 192.0.2.1', 'a 300 TXT x']],
      ['$ORIGIN x\n$ORIGIN "y\nb A 192.0.2.1', ['2:9', '3:1'], []],
      ['$ORIGIN x\n$ORIGIN y (\nb A 192.0.2.1', ['2:11', '3:1'], []],
      ['$ORIGIN x\n$ORIGIN y z\nb A 192.0.2.1', ['2:11', '3:1'], []],
      ['$TTL 60\n$TTL bogus\nb A 192.0.2.1\nc 90 A 192.0.2.1', ['2:6', '3:1'], ['c 90 A 192.0.2.1']],
      ['$TTL 60\n$TTL "1h\nb A 192.0.2.1\n$TTL 70\nc A 192.0.2.1', ['2:6', '3:1'], ['c 70 A 192.0.2.1']],
      ['c 99999999999 A 192.0.2.1', ['1:3'], []],
    ])('does not guess values that a bad line leaves undefined: %j', (text, wrong, expected) => {
      expect([errors(text), lines(text)]).toEqual([wrong, expected]);
    });

    it('may have thousands of bad lines', () => {
      const text = Array.from({ length: 1500 }, (_, i) =>
        i % 3 === 0 ? `h${i} A 192.0.2.1` : `h${i} A x`,
      ).join('\n');
      const { records, errors } = parse(text);
      expect([records.length, errors.length]).toEqual([500, 1000]);
    });

    it('may have comments in another encoding', () => {
      expect(lines('a A 192.0.2.1 ; M\ufffdller')).toEqual(['a 300 A 192.0.2.1']);
      expect(errors('a A 192.0.2.1 ; M\ufffdller\nb TXT "M\ufffdller"')).toEqual(['2:7']);
    });

    it('has records that are not imported, with the reason', () => {
      const { records, errors, skipped } = parse(`@ 3600 SOA ns1 host 1 2 3 4 5
@ NS ns1.example.net.
@ DS 1 8 2 ${'0'.repeat(64)}
@ DNSKEY 257 3 13 AAAA
w RRSIG A 13 3 300 20300101000000 20290101000000 1 example.com. AAAA
w CSYNC 1 3 A
@ WINS L1 C900 ( 192.0.2.33 )
w A 192.0.2.1
W.example.com. 60 A 192.0.2.1
c CNAME X.example.net.
c CNAME x.EXAMPLE.net.
sub NS ns1.example.net.`);
      expect(errors).toEqual([]);
      expect(skipped.map(({ line, name, type }) => `${line} ${name} ${type}`).join(', ')).toBe(
        '1 @ SOA, 2 @ NS, 3 @ DS, 4 @ DNSKEY, 5 w RRSIG, 6 w CSYNC, 7 @ WINS, 9 w A, 11 c CNAME',
      );
      expect(skipped.at(-1)?.reason).toBe('the same record is in line 10');
      expect(skipped[6]?.reason).toBe('only Windows DNS has records of this type');
      expect(records.map(({ name, type }) => `${name} ${type}`)).toEqual(['w A', 'c CNAME', 'sub NS']);
    });
  });

  describe('the export of another service', () => {
    it('an SOA outside the domain is skipped', () => {
      const text = `$ORIGIN .
@ 900 IN SOA example.com. root.example.com. 9 7200 3600 86400 900
other.example. 900 IN SOA example.com. root.example.com. 9 7200 3600 86400 900
example.com. 900 IN NS ns1.old.example.
example.com. 900 IN MX 10 post.old.example.`;
      expect(errors(text)).toEqual([]);
      expect(lines(text)).toEqual(['@ 900 MX 10 post.old.example']);
      expect(parse(text).skipped.map(({ line, name, type }) => `${line} ${name} ${type}`)).toEqual([
        '2 . SOA',
        '3 other.example. SOA',
        '4 @ NS',
      ]);
    });

    it('PowerDNS: ALIAS is read, even by its number', () => {
      const text = 'example.com.\t300\tIN\tALIAS\tlb.example.net.\n*.w 60 TYPE65401 \\# 3 016100';
      expect(lines(text)).toEqual(['@ 300 ANAME lb.example.net', '*.w 60 ANAME a.']);
    });
  });
});

describe('printing records', () => {
  function print(all: readonly CustomerRecord[]): string[] {
    const byName = new Map<Name, CustomerRecord[]>();
    for (const record of all) byName.set(record.name, [...(byName.get(record.name) ?? []), record]);
    return [...printRecords(APEX, byName)];
  }

  /** Imports into an empty domain through the API's form: text, in JSON. */
  function imported(text: string): CustomerRecord[] {
    const parsed = JSON.parse(JSON.stringify(inOneGo(parseRecords(text, APEX))));
    expect([parsed.errors, parsed.skipped]).toEqual([[], []]);
    const merge = new ImportMerge(read(parsed.records), []);
    const planned = planEdit(stateOf([]), merge.edit);
    expect([merge.failed.size, planned.kind]).toEqual([0, 'change']);
    return planned.kind === 'change' ? applied([], planned.ops) : [];
  }

  /** Returns the values without ids and times. */
  function valuesOf(all: readonly CustomerRecord[]): string[] {
    return all
      .map(({ name, type, ttl, rdata, ...record }) => {
        const settings = SETTING_NAMES.map((setting) => record[setting]);
        return JSON.stringify([name, type, Buffer.from(rdata).toString('hex'), ttl, ...settings]);
      })
      .sort();
  }

  it('records are lines of a zone file, with their settings in comments', () => {
    const all = records([
      'www 300 CNAME lb.example.net ; proxied comment=a;b',
      '@ 60 MX 10 mail.example.com',
      '@ 300 ANAME lb.example.net',
      'b.a 300 TXT "x" "y;z"',
      '*.a 86400 A 192.0.2.1',
      'a 300 TXT say "hi"',
    ]);
    expect(print(all)).toEqual([
      '$ORIGIN example.com.',
      '@                        60 IN MX 10 mail.example.com.',
      '@                        300 IN ANAME lb.example.net.',
      'a                        300 IN TXT "say \\"hi\\""',
      '*.a                      86400 IN A 192.0.2.1',
      'b.a                      300 IN TXT "x" "y;z"',
      'www                      300 IN CNAME lb.example.net. ; zonefleet proxied=true comment="a;b"',
    ]);
  });

  it.each([
    ...itemsOf(
      String.raw`a 300 TXT "\000\255\"" / a 300 TXT "zonefleet" "; proxied=true" / a\046b.c 300 A 192.0.2.1 / a 300 MX 0 . /
www.example.com.example.com. 300 A 192.0.2.1 / bücher 300 A 192.0.2.1 / a 300 CAA 0 issue "ca.example.net; a=b" /
a 300 SRV 1 2 3 Host.example.com / a 300 HTTPS 1 . alpn="h2,h3" port=8443 / a 300 DNAME Host.example.com /
a 300 NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:\\1@example.com!" . / a 300 URI 1 2 "https://example.com/;x" /
1/2 300 PTR *.example.com / a 300 LOC 52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m / a 300 TYPE10 \# 0 /
a 300 SMIMEA 3 0 1 ABCD / a 300 OPENPGPKEY AAAA / a 300 CERT 3 0 0 AAAA / a 300 HINFO "a;b" "" /
a 300 TYPE65280 \# 3 0A0B0C`.replaceAll(' /\n', ' / '),
    ),
    `a 300 SSHFP 1 1 ${'00'.repeat(20)}`,
    `a 300 TLSA 3 1 1 ${'00'.repeat(32)}`,
  ])('%s is restored from its line', (line) => {
    const all = records([line]);
    expect(valuesOf(imported(print(all).join('\n')))).toEqual(valuesOf(all));
  });

  const aSetting: fc.Arbitrary<Partial<RecordSettings>> = fc.record(
    {
      captcha: fc.boolean(),
      scheme: fc.constantFrom(...ORIGIN_SCHEMES),
      port: fc.integer({ min: 1, max: 65_535 }),
      hostHeader: fc.constantFrom(null, 'x.example.net', 'X'),
      monitor: fc.boolean(),
      destCountry: fc.constantFrom(null, 'DE'),
      timeout: fc.integer({ min: 1, max: 3600 }),
      comment: fc.oneof(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.constantFrom('a\nb', '"', '\\', ';', '; zonefleet proxied=true', '\r\n$ORIGIN x.', '\u2028', ' '),
      ),
    },
    { requiredKeys: [] },
  );

  it('an export that is imported into an empty domain restores the same records', () => {
    const domain = fc
      .array(anything.record, { minLength: 1, maxLength: 24 })
      .map(domainOf)
      .chain((all) =>
        fc
          .array(aSetting, { minLength: all.length, maxLength: all.length })
          .map((settings) => all.map((record, i) => stored({ ...record, ...settings[i] }, record.id))),
      );
    fc.assert(
      fc.property(domain, (all) => {
        expect(valuesOf(imported(`${print(all).join('\n')}\n`))).toEqual(valuesOf(all));
      }),
      { numRuns: scale(100, 10) },
    );
  });
});

describe('reading an import', () => {
  it('items are read one by one, and those that cannot be read are reported', () => {
    const { entries, unread, incomplete, named } = read(
      ['a A 192.0.2.1', 'a A x', 'a..b A 192.0.2.1', 'b MX 10 h.example.net'].map((line) => recordText(line)),
    );
    expect(entries.map(({ index, type }) => `${index} ${type}`)).toEqual(['0 A', '3 MX']);
    expect([...unread.keys()]).toEqual([1, 2]);
    const [a, b] = entries;
    expect([...incomplete]).toEqual([a && setKey(a.name, 'A')]);
    expect(named).toEqual([
      { name: a?.name, type: 'A' },
      { name: b?.name, type: 'MX' },
    ]);
  });

  it.each([
    [undefined, undefined],
    [-1, 60],
    [60, 60],
    [3600, 3600],
    [2 ** 40, 86_400],
    [1e30, 86_400],
  ])('a TTL of %s becomes %s', (ttl, expected) => {
    expect(read([{ name: 'a', type: 'A', destination: '192.0.2.1', ttl }]).entries[0]?.ttl).toBe(expected);
  });

  it.each([
    [{ type: 'FOO' }, 'type', []],
    [{ type: 'TYPE1' }, 'write the type as A', []],
    [{ ttl: 100.5 }, 'TTL', ['A']],
    [{ ttl: 1.5 }, 'TTL', ['A']],
    [{ port: 1e30 }, 'port', ['A']],
    [{ mx_priority: 1.5 }, 'priority', ['A']],
    [{ scheme: 'Gopher' }, 'scheme', ['A']],
    [{ name: 'a\ud800' }, 'label', []],
    [{ name: '\\\ud800' }, '', []],
    [{ comment: 'a\0b' }, 'comment', ['A']],
  ])('%j is an error of the item', (more, message, sets) => {
    const { entries, unread, incomplete } = read([
      { name: 'a', type: 'A', destination: '192.0.2.1', ...more },
      { name: 'b', type: 'A', destination: '192.0.2.1' },
    ]);
    expect([entries.map(({ index }) => index), unread.get(0)]).toEqual([
      [1],
      expect.stringContaining(message),
    ]);
    expect([...incomplete].map((key) => key.split(' ')[0])).toEqual(sets);
  });

  it('a type is read in any case', () => {
    const { entries } = read([
      { name: 'a', type: 'a', destination: '192.0.2.1' },
      { name: 'a', type: 'type65280', destination: '\\# 1 00' },
    ]);
    expect(entries.map(({ type }) => type)).toEqual(['A', 'TYPE65280']);
  });

  it('a name of any length is checked', () => {
    const { unread } = read([{ name: 'ü'.repeat(1_000_000), type: 'A', destination: '192.0.2.1' }]);
    expect(unread.get(0)).toBe('a name is longer than 255 octets');
  });
});

describe('the comment with settings', () => {
  function print(settings: Partial<RecordSettings>): string {
    return printSettingsComment({ ...DEFAULT_SETTINGS, ...settings });
  }

  function parse(comment: string): unknown {
    const parsed = parseSettingsComment(comment);
    return parsed.kind === 'settings' ? parsed.settings : parsed.message;
  }

  describe('the settings of a record', () => {
    it.each<[Partial<RecordSettings>, string]>([
      [{}, ''],
      [{ proxied: true }, '; zonefleet proxied=true'],
      [{ port: 80, scheme: 'Http', timeout: 1 }, '; zonefleet scheme="Http" port=80 timeout=1'],
      [{ comment: 'a "b"; c\nd\\' }, '; zonefleet comment="a \\"b\\"; c\\nd\\\\"'],
      [
        { hostHeader: 'x.example', monitor: true, captcha: true, destCountry: 'DE' },
        '; zonefleet captcha=true host_header="x.example" monitor=true dest_country="DE"',
      ],
    ])('%j are %s', (settings, comment) => {
      expect(print(settings)).toBe(comment);
    });

    it('are restored from their comment, for any values', () => {
      const text = fc.option(fc.string({ unit: anyCharacter }));
      const [boolean, port, timeout] = [
        fc.boolean(),
        fc.integer({ min: 1, max: 65_535 }),
        fc.integer({ min: 1, max: 3600 }),
      ];
      const settings = fc.record({
        ...{ proxied: boolean, captcha: boolean, monitor: boolean, port, timeout },
        ...{ hostHeader: text, destCountry: text, comment: text },
        scheme: fc.constantFrom(...ORIGIN_SCHEMES),
      });
      fc.assert(
        fc.property(settings, (wanted) => {
          const comment = printSettingsComment(wanted);
          expect(comment).not.toMatch(/\n|\r(?=\n)/);
          const { host_header, dest_country, ...rest } = parse(comment.slice(1)) as Record<string, never>;
          const read = {
            ...rest,
            ...(host_header !== undefined && { hostHeader: host_header }),
            ...(dest_country !== undefined && { destCountry: dest_country }),
          };
          expect({ ...DEFAULT_SETTINGS, ...read }).toEqual(wanted);
        }),
        { numRuns: scale(100, 10) },
      );
    });
  });

  describe('a comment', () => {
    it.each([
      '',
      ' web server',
      ' proxied=true',
      ' zonefleets proxied=true',
      ' the zonefleet proxied=true',
    ])('of another program has no settings: %j', (comment) => {
      expect(parse(comment)).toEqual({});
    });

    it.each(
      itemsOf(
        'proxied / proxied=yes / proxied=1 / proxy=true / proxied=true proxied=false / port="80" / port=80.5 / scheme="Gopher" / comment="open / comment="a"b / comment=null',
      ),
    )('of Zonefleet must be valid: %s', (comment) => {
      expect(parse(` zonefleet ${comment}`)).toMatch(/^the comment "; zonefleet" does not allow /);
    });

    it.each([
      [' cf_tags=cf-proxied:true', { proxied: true }],
      [' shop cf_tags=cf-flatten-cname,cf-proxied:true', { proxied: true }],
      [' cf_tags=cf-proxied:false', {}],
    ])('of Cloudflare is recognized: %s', (comment, settings) => {
      expect(parse(comment)).toEqual(settings);
    });

    it('is read in linear time, for any length', () => {
      expect(parse(` ${'cf_tags='.repeat(20_000)}`)).toEqual({});
      expect(parse(` ${'cf_tags= '.repeat(20_000)}`)).toEqual({});
    });
  });
});
