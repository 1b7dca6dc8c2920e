// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are the templates of $GENERATE
// Compares this parser and printer of zone files with BIND, Knot and NSD.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName, prependLabel, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts';
import type { ZoneFile } from '../../src/dns/zone-file/zone-file.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/zones');
const APEX = parseName('z.test.');
const folder = mkdtempSync(join(tmpdir(), 'zonefleet-zone-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Prints the records as a set: a zone file has no order, and duplicates count once. */
function show(records: Iterable<ZoneRecord>): string[] {
  const lines = Array.from(
    records,
    ({ owner, ttl, type, rdata }) =>
      `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
  return [...new Set(lines)].sort();
}

const textOf = (name: string) => readFileSync(join(FIXTURES, name), 'utf8');
const readFixture = (name: string): ZoneFile => parseZoneFile(textOf(name), { include: textOf });
const fixtures = readdirSync(FIXTURES).filter((name) => name.endsWith('.zone'));

describe.each(fixtures)('fixtures/zones/%s', (name) => {
  const zone = readFixture(name);

  it('is read without problems', () => {
    expect(zone.problems).toEqual([]);
    expect(zone.records.length).toBeGreaterThan(5);
  });

  it('is parsed from its printed text unchanged', () => {
    const again = parseZoneFile(printZoneFile(zone.origin, zone.records));
    expect(again.problems).toEqual([]);
    expect(again.origin).toBe(zone.origin);
    expect(show(again.records)).toEqual(show(zone.records));
  });
});

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
const content: fc.Arbitrary<{ type: number; rdata: Uint8Array }> = fc.oneof(
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

it('printing and parsing return the same records, for any octets', () => {
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

const CHECKERS = {
  'named-checkzone': (origin: string, path: string) => ['-k', 'ignore', '-i', 'none', origin, path],
  kzonecheck: (origin: string, path: string) => ['-o', origin, path],
  'nsd-checkzone': (origin: string, path: string) => [origin, path],
};

/** Runs the program on a file. `path` is relative to the fixtures, so that it can include others. */
function run(program: string, args: readonly string[]) {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: FIXTURES, encoding: 'utf8', env });
  return { accepts: status === 0, output: `${stdout}${stderr}` };
}

/** Reads the canonical text that BIND produces from a file. */
function readByBind(origin: string, path: string): string[] {
  const output = join(folder, 'canonical');
  const args = ['-k', 'ignore', '-i', 'none', '-D', '-o', output, origin, path];
  expect(run('named-checkzone', args)).toMatchObject({ accepts: true });
  const zone = parseZoneFile(readFileSync(output, 'utf8'), { origin: parseName(origin) });
  expect(zone.problems).toEqual([]);
  return show(zone.records);
}

const noBind = isInstalled('named-checkzone') ? '' : ' (skipped: needs named-checkzone)';

describe.skipIf(noBind !== '')(`BIND reads the same records${noBind}`, () => {
  it.each(fixtures)('from %s', (name) => {
    const zone = readFixture(name);
    expect(show(zone.records)).toEqual(readByBind(printName(zone.origin), name));
  });

  it.each([
    [
      '$GENERATE with every base and width',
      `
$GENERATE 1-40/3 a\${0,1,n}x TXT \${0,0,n}-\${0,2,n}-\${0,3,n}-\${0,4,N}-\${0,5,n}-\${0,6,N}
$GENERATE 5-60/9 b\${-5,4,o}-\${2,1,x}-\${0,5,X}-$-\${1}-\${0,0}-\${0,3} 60 IN TXT "a$ \\"b $ c\\" d$$e \\$ \\\\ x\\;y"
$GENERATE 1-2 c$.d$$ 60 TXT "$"
$GENERATE 1-3 $ MX "$ mail$"
$GENERATE 0-1 @ A 192.0.2.$
`,
    ],
    ['TTLs without $TTL', 'a A 192.0.2.1\nb 60 A 192.0.2.1\n  A 192.0.2.2\nc TXT x\n'],
    ['TTLs with $TTL', 'a 60 A 192.0.2.1\nb A 192.0.2.1\n$TTL 1w2d\nc A 192.0.2.1\nd 0 A 192.0.2.1\n'],
    ['sets with several TTLs', 'a 60 A 192.0.2.1\na 30 A 192.0.2.2\na 90 A 192.0.2.3\n'],
    ['quotes that touch words', 'a TXT x"y"z "v""w"\nb TXT k="v"\nc HTTPS 1 . key667="a b"\n'],
    ['escapes', 'a\\.b\\"c TXT "\\"\\\\\\065\\;" \\"x \\032y\n'],
    [
      'an owner that resembles another field',
      '300 A 192.0.2.1\nin A 192.0.2.1\nA A 192.0.2.1\n\\@ A 192.0.2.1\n',
    ],
  ])('from text with %s', (_what, text) => {
    const whole = `$ORIGIN z.test.\n@ 700 SOA ns h 1 2 3 4 5\n NS ns\nns A 192.0.2.9\n${text}`;
    writeFileSync(join(folder, 'z'), whole);
    const zone = parseZoneFile(whole);
    expect(zone.problems).toEqual([]);
    expect(show(zone.records)).toEqual(readByBind('z.test.', join(folder, 'z')));
  });
});

const SOA_AND_NS = recordsOf('@ 300 SOA ns h 1 2 3 4 5\n@ 300 NS ns.elsewhere.example.', 'z.test.');

describe.each(Object.entries(CHECKERS))('%s', (program, argumentsFor) => {
  const missing = isInstalled(program) ? '' : ` (skipped: needs ${program})`;
  const server = { 'named-checkzone': 'bind', kzonecheck: 'knot', 'nsd-checkzone': 'nsd' }[program] as string;

  const check = (origin: Name, records: readonly ZoneRecord[]) => {
    const path = join(folder, 'printed.zone');
    const text = printZoneFile(origin, records);
    writeFileSync(path, text);
    const { accepts, output } = run(program, argumentsFor(printName(origin), path));
    expect(accepts, `${output}\n${text.slice(0, 2000)}`).toBe(true);
  };

  it.skipIf(missing !== '').each(fixtures)(`accepts the printed %s${missing}`, (name) => {
    const { origin, records } = readFixture(name);
    check(origin, records);
  });

  it.skipIf(missing !== '')(`accepts random zones with any octets, as printed${missing}`, () => {
    for (const records of fc.sample(zoneRecords, { numRuns: 20, seed: 2 }))
      check(APEX, [
        ...SOA_AND_NS,
        ...records.filter(({ owner, type }) => owner !== APEX || type !== TYPE.NS),
      ]);
  });

  it.skipIf(missing !== '').each(fixtures)(
    `accepts %s, unless its first line specifies otherwise${missing}`,
    (name) => {
      const [head = ''] = textOf(name).split('\n');
      const refusing = /Not for ([a-z, ]+)\./.exec(head)?.[1]?.split(', ') ?? [];
      const { accepts, output } = run(program, argumentsFor(printName(readFixture(name).origin), name));
      expect(accepts, output).toBe(!refusing.includes(server));
    },
  );
});
