import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName, prependLabel, printName, ROOT } from '../../../src/dns/name.ts';
import { parseRdata, printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { countReads } from '../../support/tests/count-reads.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/zones');
const APEX = parseName('z.test.');

/** Text is compared as a set: a zone file has no order, and the same record twice is one. */
function show(records: Iterable<ZoneRecord>): string[] {
  const lines = Array.from(
    records,
    ({ owner, ttl, type, rdata }) =>
      `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
  return [...new Set(lines)].sort();
}

function readFixture(name: string): { origin: Name; records: ZoneRecord[] } {
  const include = (path: string) => readFileSync(join(FIXTURES, path), 'utf8');
  return parseZoneFile(readFileSync(join(FIXTURES, name), 'utf8'), { include });
}

describe('a printed zone', () => {
  it('has $ORIGIN and the commonest $TTL, the SOA first, relative owners in canonical order', () => {
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
    const records = [
      { owner: parseName('com.'), type: TYPE.NS, ttl: 1, rdata: parseRdataText(TYPE.NS, 'a.com.') },
    ];
    expect(printZoneFile(ROOT, records)).toContain('\ncom                      IN NS a.com.\n');
  });

  it('that is empty is a $ORIGIN', () => {
    expect(printZoneFile(APEX, [])).toBe('$ORIGIN z.test.\n');
  });
});

function parseRdataText(type: number, text: string): Uint8Array {
  const tokens = text.split(' ').map((word, i) => ({ text: word, quoted: false, line: 1, column: i + 1 }));
  return parseRdata(type, tokens, APEX);
}

// --- random zones: any octets in labels, strings and unknown rdata

const label = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'b', '*', '_tcp', '@', '$ttl', 'in', '300', '\0', '.', '\\', 'xn--a'),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 63 })
      .map((octets) => Buffer.from(octets).toString('latin1')),
  },
);
const name = fc
  .array(label, { maxLength: 5 })
  .map((labels) => labels.reduce<Name>((below, one) => prependLabel(one, below) ?? below, APEX));
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Uint8Array.from(array));
const strings = fc
  .array(octets(255), { minLength: 1, maxLength: 3 })
  .map((list) => Uint8Array.from(list.flatMap((one) => [one.length, ...one])));
const content = fc.oneof(
  fc.record({
    type: fc.constant(TYPE.A),
    rdata: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((array) => Uint8Array.from(array)),
  }),
  fc.record({ type: fc.constant(TYPE.TXT), rdata: strings }),
  fc.record({
    type: fc.constant(TYPE.MX),
    rdata: name.map((host) => Uint8Array.from([0, 10, ...Buffer.from(host, 'latin1')])),
  }),
  fc.record({ type: fc.constantFrom(65_280, 65_281, 1000), rdata: octets(80) }),
);
const zoneRecords = fc
  .array(fc.record({ owner: name.map(foldCase), ttl: fc.constantFrom(0, 60, 300, 2 ** 31 - 1), content }), {
    maxLength: 40,
  })
  .map((list) => {
    const ttls = new Map<string, number>();
    return list.map(({ owner, ttl, content: { type, rdata } }) => {
      const key = `${owner}/${type}`;
      ttls.set(key, ttls.get(key) ?? ttl);
      return { owner, type, ttl: ttls.get(key) as number, rdata };
    });
  });

describe('printing and parsing', () => {
  it('give back the same records, whatever their octets', () => {
    fc.assert(
      fc.property(zoneRecords, (records) => {
        const { problems, records: read } = parseZoneFile(printZoneFile(APEX, records), { origin: APEX });
        expect(problems).toEqual([]);
        expect(show(read)).toEqual(show(records));
        expect(printZoneFile(APEX, read)).toBe(printZoneFile(APEX, records));
      }),
      { numRuns: 300 },
    );
  });

  it.each(
    readdirSync(FIXTURES).filter((file) => file.endsWith('.zone')),
  )('give back the records of %s', (file) => {
    const zone = readFixture(file);
    const again = parseZoneFile(printZoneFile(zone.origin, zone.records));
    expect(again.problems).toEqual([]);
    expect(again.origin).toBe(zone.origin);
    expect(show(again.records)).toEqual(show(zone.records));
  });

  it('are read a few times for a zone of 27,500 records', () => {
    const lines = ['$ORIGIN z.test.\n$TTL 3600\n@ SOA ns1 h 1 2 3 4 5\n NS ns1\n'];
    for (let i = 0; i < 5_500; i++) {
      lines.push(`h${i} IN A 192.0.2.${i % 256}\n IN AAAA 2001:db8::${(i % 65_536).toString(16)}\n`);
      lines.push(` 300 TXT "v=spf1 -all"\nm${i} MX 10 h${i}\nc${i} CNAME h${i}\n`);
    }
    const text = lines.join('');
    let zone = parseZoneFile('');
    const reads = countReads(() => {
      zone = parseZoneFile(text);
    });
    expect(zone.problems).toEqual([]);
    expect(zone.records).toHaveLength(27_502);
    expect(reads).toBeGreaterThan(text.length);
    expect(reads).toBeLessThan(20 * text.length);
  });
});

// --- the same text in other servers' hands

const CHECKERS = {
  'named-checkzone': (origin: string, path: string) => ['-k', 'ignore', '-i', 'none', origin, path],
  kzonecheck: (origin: string, path: string) => ['-o', origin, path],
  'nsd-checkzone': (origin: string, path: string) => [origin, path],
};

const hasSoa = (records: readonly ZoneRecord[]): ZoneRecord[] => [
  { owner: APEX, type: TYPE.SOA, ttl: 300, rdata: parseRdataText(TYPE.SOA, 'ns h 1 2 3 4 5') },
  { owner: APEX, type: TYPE.NS, ttl: 300, rdata: parseRdataText(TYPE.NS, 'ns.elsewhere.example.') },
  ...records.filter(({ owner, type }) => owner !== APEX || type !== TYPE.NS),
];

describe.each(Object.entries(CHECKERS))('printed zones and %s', (program, argumentsFor) => {
  const missing = isInstalled(program) ? '' : ` (skipped: needs ${program})`;

  const check = (zones: { origin: Name; records: readonly ZoneRecord[] }[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'zonefleet-print-'));
    try {
      for (const { origin, records } of zones) {
        const path = join(folder, 'printed.zone');
        const text = printZoneFile(origin, records);
        writeFileSync(path, text);
        const { status, stdout, stderr } = spawnSync(program, argumentsFor(printName(origin), path), {
          encoding: 'utf8',
          env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
        });
        expect(status, `${stdout}${stderr}\n${text.slice(0, 2000)}`).toBe(0);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.skipIf(missing !== '')(`it accepts every zone of the fixtures${missing}`, () => {
    const files = readdirSync(FIXTURES).filter((file) => file.endsWith('.zone'));
    check(files.map(readFixture));
  });

  it.skipIf(missing !== '')(`it accepts random zones with any octets${missing}`, () => {
    const zones = fc.sample(zoneRecords, { numRuns: 20, seed: 2 });
    check(zones.map((records) => ({ origin: APEX, records: hasSoa(records) })));
  });
});

/** The head line of a fixture says which servers cannot read the file as it is. */
describe.each(Object.entries(CHECKERS))('the files of the fixtures and %s', (program, argumentsFor) => {
  const missing = isInstalled(program) ? '' : ` (skipped: needs ${program})`;
  const server = { 'named-checkzone': 'bind', kzonecheck: 'knot', 'nsd-checkzone': 'nsd' }[program] as string;
  const files = readdirSync(FIXTURES).filter((file) => file.endsWith('.zone'));

  it.skipIf(missing !== '').each(files)(
    `it accepts %s, unless its head line says otherwise${missing}`,
    (file) => {
      const [head = ''] = readFileSync(join(FIXTURES, file), 'utf8').split('\n');
      const refusing = /Not for ([a-z, ]+)\./.exec(head)?.[1]?.split(', ') ?? [];
      const { status, stdout, stderr } = spawnSync(
        program,
        argumentsFor(printName(readFixture(file).origin), file),
        {
          cwd: FIXTURES,
          encoding: 'utf8',
          env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
        },
      );
      expect(status === 0, stdout + stderr).toBe(!refusing.includes(server));
    },
  );
});
