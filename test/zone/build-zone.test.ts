// What makes a zone, and everything that keeps records from being one: a table of additions to a sound zone.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts';
import { type BuiltZone, buildZone } from '../../src/zone/build-zone.ts';
import { markOf, type Zone } from '../../src/zone/zone.ts';
import { watchReads } from '../support/tests/count-reads.ts';
import { itemsOf, rowsOf, wordsOf } from '../support/tests/rows-of.ts';
import { zoneDigest } from '../support/zone/zone-digest.ts';
import { recordsOf, zoneOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const SOA = '@ 3600 SOA ns.example. host.example. 7 10000 2400 604800 1800\n';
const NS = '@ 3600 NS ns.example.\n';
const SHA = '8 2 0000000000000000000000000000000000000000000000000000000000000000';

function build(text: string): BuiltZone {
  return buildZone(APEX, recordsOf(text, 'example.'));
}

const built = (text: string): Zone => zoneOf('example.', text);

function problemsOf(result: BuiltZone): string[] {
  return result.kind === 'built'
    ? []
    : result.problems.map((problem) => `${problem.code} ${problem.message}`);
}

describe('records that make no zone', () => {
  it.each(
    rowsOf(`
no records at all | | NO_SOA example. has no SOA / NO_APEX_NS example. has no NS
no SOA | NS | NO_SOA example. has no SOA
no NS at the apex | SOA / sub 60 NS ns.sub | NO_APEX_NS example. has no NS
two SOA records (RFC 2181 §6.1) | SOA / @ 3600 SOA ns.example. host.example. 8 10000 2400 604800 1800 / NS | MANY_SOA example. has 2 SOA records, not one
a SOA below the apex | SOA / NS / a 60 SOA b. c. 1 2 3 4 5 | SOA_BELOW_APEX a.example. has a SOA but is not the apex
an owner outside | SOA / NS / www.example.net. 60 A 192.0.2.1 | OUT_OF_ZONE www.example.net. does not lie in the zone example.
an owner that only looks as if it ended in the apex | SOA / NS / \\007example. 60 A 192.0.2.1 | OUT_OF_ZONE \\007example. does not lie in the zone example.
CNAME beside other data (RFC 1034 §3.6.2) | SOA / NS / a 60 CNAME b / a 60 A 192.0.2.1 / a 60 TXT x | CNAME_AND_OTHER a.example. has both CNAME and A / CNAME_AND_OTHER a.example. has both CNAME and TXT
CNAME at the apex | SOA / NS / @ 60 CNAME b | CNAME_AND_OTHER example. has both CNAME and SOA / CNAME_AND_OTHER example. has both CNAME and NS
two CNAMEs (RFC 2181 §10.1) | SOA / NS / a 60 CNAME b / a 60 CNAME c | MANY_CNAME a.example. has more than one CNAME
two DNAMEs (RFC 6672 §2.4) | SOA / NS / a 60 DNAME b / a 60 DNAME c | MANY_DNAME a.example. has more than one DNAME
DNAME beside CNAME (RFC 6672 §2.4) | SOA / NS / a 60 DNAME b / a 60 CNAME c | DNAME_AND_CNAME a.example. has both DNAME and CNAME
DNAME beside NS below the apex (RFC 6672 §2.3) | SOA / NS / a 60 DNAME b / a 60 NS c | DNAME_AND_NS a.example. has both DNAME and NS
records below a DNAME (RFC 6672 §2.4) | SOA / NS / d 60 DNAME x / a.d 60 A 192.0.2.1 / b.a.d 60 A 192.0.2.1 | BELOW_DNAME a.d.example. lies below the DNAME at d.example. / BELOW_DNAME b.a.d.example. lies below the DNAME at d.example.
records below a DNAME at the apex | SOA / NS / @ 60 DNAME x. / ns 60 A 192.0.2.1 | BELOW_DNAME ns.example. lies below the DNAME at example.
NS at a wildcard (RFC 4592 §4.2) | SOA / NS / *.a 60 NS ns | NS_AT_WILDCARD *.a.example. has NS: a wildcard cannot be delegated
a set that fits in no message (RFC 1035 §4.2.2) | SOA / NS / big 60 TYPE65280 \\# 65535 ${'00'.repeat(65535)} | SET_TOO_LARGE big.example. TYPE65280: the set fits in no message
DS at the apex (RFC 4035 §2.4) | SOA / NS / @ 60 DS 1 SHA | DS_AT_APEX example. has a DS: it belongs to the parent zone
two chains of NSEC3 in force: which one is meant is not said | SOA / NS / @ 0 NSEC3PARAM 1 0 0 - / @ 0 NSEC3PARAM 1 0 0 AB | MANY_NSEC3PARAM example. has 2 NSEC3PARAM with flags 0, not one
names hashed as nobody knows (RFC 5155 §8.1) | SOA / NS / @ 0 NSEC3PARAM 2 0 0 - | NSEC3_ALGORITHM example. has an NSEC3PARAM with the hash algorithm 2: only 1, SHA-1, is known
names hashed too often (RFC 9276 §3.2) | SOA / NS / @ 0 NSEC3PARAM 1 0 51 - | NSEC3_ITERATIONS example. has an NSEC3PARAM with 51 iterations: at most 50 are served
a set that fits in no message with its signatures | SOA / NS / big 60 TYPE65280 \\# 65000 ${'00'.repeat(65000)} / big 60 RRSIG TYPE65280 13 2 60 20300101000000 20200101000000 1 example. ${'A'.repeat(800)} | SET_TOO_LARGE big.example. TYPE65280: the set fits in no message`),
  )('%s', (_, records, problems) => {
    const text = itemsOf(records).map((item) => ({ SOA, NS })[item] ?? item);
    expect(problemsOf(build(text.join('\n').replace('SHA', SHA)))).toEqual(itemsOf(problems));
  });

  it('reports every problem, not only the first', () => {
    const result = build('a 60 CNAME b\na 60 CNAME c\nb 60 SOA x. y. 1 2 3 4 5\nwww.other. 60 A 192.0.2.1');
    expect(problemsOf(result).map((problem) => problem.split(' ')[0])).toEqual(
      wordsOf(`
      OUT_OF_ZONE NO_SOA NO_APEX_NS MANY_CNAME SOA_BELOW_APEX`),
    );
  });

  it('names owner and type of a problem', () => {
    const result = build(`${SOA}${NS}a 60 CNAME b\na 60 MX 10 b`);
    const first = { code: 'CNAME_AND_OTHER', owner: parseName('a.example.'), type: TYPE.MX };
    expect(result.kind === 'refused' && result.problems[0]).toMatchObject(first);
  });
});

describe('records that make a zone', () => {
  const accepted: readonly [string, string][] = [
    ['RRSIG and NSEC beside a CNAME (RFC 4034 §3, §4)', 'a 60 CNAME b\na 60 NSEC b.example. CNAME NSEC'],
    ['NS, MX and SRV that point to a CNAME', 'a 60 CNAME b\n@ 60 NS a\n@ 60 MX 1 a\n_x._tcp 60 SRV 1 1 1 a'],
    ['a DNAME at the apex, beside SOA and NS (RFC 6672 §2.3)', '@ 60 DNAME x.'],
    ['a DNAME at a wildcard (RFC 6672 §3.3)', '*.a 60 DNAME b'],
    ['a CNAME to itself', 'a 60 CNAME a'],
    ['occluded records below a cut', 'c 60 NS x.\na.c 60 TXT x\n*.c 60 TXT x\nns.c 60 A 192.0.2.1'],
    ['a DS without NS', `a 60 DS 1 ${SHA}`],
    ['a type that we do not know', 'a 60 TYPE65280 \\# 3 010203'],
    ['NS at a name with a star that is not leftmost', 'a.* 60 NS x.'],
    ['DNSKEY at the apex', '@ 60 DNSKEY 257 3 13 AAAA'],
    ['NSEC3 with 50 iterations', '@ 0 NSEC3PARAM 1 0 50 -'],
    ['an idle chain of NSEC3 with other parameters', '@ 0 NSEC3PARAM 1 0 0 -\n@ 0 NSEC3PARAM 2 1 9999 AB'],
  ];

  it.each(accepted)('%s', (_, text) => {
    expect(problemsOf(build(SOA + NS + text))).toEqual([]);
  });

  it('holds serial and negative TTL: the lower of the SOA TTL and MINIMUM (RFC 2308 §5)', () => {
    expect(built(SOA + NS)).toMatchObject({ apex: APEX, serial: 7, negativeTtl: 1800, records: 2 });
    expect(built(SOA.replace('3600', '600') + NS).negativeTtl).toBe(600);
    expect(built(SOA.replace(' 7 ', ' 4294967295 ') + NS).serial).toBe(4294967295);
  });

  it('has a node for every name that exists, empty non-terminals too (RFC 4592 §2.2.2)', () => {
    const zone = built(`${SOA}${NS}a.b.c 60 A 192.0.2.1\n*.e.f 60 A 192.0.2.1`);
    const names = [...zone.nodes.keys()].map(printName).sort();
    expect(names).toEqual(
      wordsOf(`
      *.e.f.example. a.b.c.example. b.c.example. c.example. e.f.example. example. f.example.`),
    );
    expect(zone.nodes.get(parseName('b.c.example.'))?.sets.size).toBe(0);
  });

  it('has a node without sets for a marked name, which is no record, and above it', () => {
    const marks = ['m', 'x.y', '*.w', 'a', '@'].map((name) =>
      markOf(parseName(name.replace('@', 'example.'), APEX)),
    );
    const records = [...marks, ...recordsOf(`${SOA}${NS}a 60 A 192.0.2.1`, 'example.'), ...marks];
    const result = buildZone(APEX, records);
    if (result.kind === 'refused') throw new Error(problemsOf(result).join());
    const { zone } = result;
    const setsAt = [...zone.nodes.values()].map(({ name, sets }) => `${printName(name)} ${[...sets.keys()]}`);
    const wanted =
      '*.w.example. |a.example. 1|example. 6,2|m.example. |w.example. |x.y.example. |y.example. ';
    expect(setsAt.sort()).toEqual(wanted.split('|'));
    expect(zone.marked).toEqual(new Set(marks.map(({ owner }) => owner)));
    expect([zone.records, built(SOA + NS).marked.size]).toEqual([3, 0]);
    const outside = buildZone(APEX, [...recordsOf(SOA + NS, 'example.'), markOf(parseName('other.'))]);
    expect(problemsOf(outside)).toEqual(['OUT_OF_ZONE other. does not lie in the zone example.']);
  });

  it('reads each rdata a few times, also when sets have thousands', () => {
    let reads = 0;
    const counted = (octets: Uint8Array) => watchReads(octets, () => reads++);
    const records = recordsOf(SOA + NS, 'example.');
    for (let i = 0; i < 20_000; i++) {
      const owner = i < 10_000 ? `many${Math.floor(i / 4000)}` : `h${i}.d${i % 200}`;
      const rdata = counted(Uint8Array.of(10, i >> 16, i >> 8, i & 255));
      records.push({ owner: parseName(`${owner}.example.`), type: TYPE.A, ttl: 60, rdata });
    }
    const result = buildZone(APEX, records);
    expect(result.kind === 'built' && result.zone.records).toBe(20_002);
    expect(result.kind === 'built' && result.zone.nodes.size).toBe(10_204);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(40 * 20_000);
  });
});

it('a zone keeps what its digest is of, also when it is printed and read again (RFC 8976 §A.2)', () => {
  const text = readFileSync('fixtures/zonemd/rfc8976-a2.zone', 'utf8');
  const zone = built(text);
  const digest = zone.nodes.get(APEX)?.sets.get(TYPE.ZONEMD)?.rdata[0]?.slice(6);
  expect(digest).toEqual(zoneDigest(zone));
  const printed = printZoneFile(APEX, recordsOf(text, 'example.'));
  expect(zoneDigest(built(printed))).toEqual(digest);
});
