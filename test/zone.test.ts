import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { verifyZonemd } from '../src/dns/dnssec/zonemd.ts';
import { type Name, parseName, printName } from '../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../src/dns/type-codes.ts';
import { inOneGo } from '../src/dns/zone-file/in-one-go.ts';
import { printZoneFile } from '../src/dns/zone-file/print-zone-file.ts';
import { attachSignatures } from '../src/zone/attach-signatures.ts';
import { type BuiltZone, buildZone } from '../src/zone/build-zone.ts';
import { checkNode } from '../src/zone/check-node.ts';
import { type CollectedRecords, collectRecords } from '../src/zone/collect-records.ts';
import { idOfSet, rdataOfSet, SET_ID_OCTETS } from '../src/zone/edge-sets.ts';
import { asciiText, printWithoutDot, readName } from '../src/zone/name-text.ts';
import { recordsOfZone } from '../src/zone/records-of-zone.ts';
import {
  expiredMarkOf,
  isExpiredMark,
  isMark,
  isPrivateMark,
  isUnprovenMark,
  markOf,
  privateMarkOf,
  unprovenMarkOf,
  type Zone,
  type ZoneRecord,
} from '../src/zone/zone.ts';
import { ProblemList } from '../src/zone/zone-problem.ts';
import { signRecords } from './support/dnssec/sign-records.ts';
import { makeKey } from './support/dnssec/signing.ts';
import { watchReads } from './support/tests/count-reads.ts';
import { itemsOf, rowsOf, wordsOf } from './support/tests/rows-of.ts';
import { zoneOfRecords } from './support/zone/sign-zone.ts';
import { recordsOf, zoneOf } from './support/zone/zone-text.ts';

const APEX = parseName('example.');

test('the marks of unproven, expired and private zones differ from each other and other marks, and are valid only at the apex', () => {
  const apex = parseName('example.com.');
  const kinds = [isMark, isUnprovenMark, isExpiredMark, isPrivateMark];
  const kindOf = (mark: ZoneRecord) => kinds.map((isOfKind) => isOfKind(mark, apex));
  expect(kindOf(markOf(apex))).toEqual([true, false, false, false]);
  for (const [mark, kind] of [
    [unprovenMarkOf(apex), [true, true, false, false]],
    [expiredMarkOf(apex), [true, false, true, false]],
    [privateMarkOf(apex), [true, false, false, true]],
  ] as const) {
    expect(kindOf(mark)).toEqual(kind);
    expect(kindOf({ ...mark, owner: parseName('www.example.com.') })).toEqual([true, false, false, false]);
    expect(kindOf({ ...mark, type: TYPE.A })).toEqual([false, false, false, false]);
  }
});

describe('signatures', () => {
  it('belong to the set of the type that they cover, and take its TTL (RFC 4034 §3)', () => {
    const collected = collect(
      signature('a', 'TXT', 1, 5),
      'a 60 A 192.0.2.1',
      'a 300 TXT x',
      signature('a', 'A', 2),
      signature('a', 'A', 3, 900),
    );
    expect(attachSignatures(collected)).toEqual({ count: 3, stray: [] });
    const sets = collected.nodes.get(parseName('a.example.'))?.sets;
    expect([...(sets?.keys() ?? [])]).toEqual([TYPE.A, TYPE.TXT]);
    expect(sets?.get(TYPE.A)).toMatchObject({ ttl: 60 });
    expect(sets?.get(TYPE.A)?.signatures).toHaveLength(2);
    expect(sets?.get(TYPE.TXT)).toMatchObject({ ttl: 300 });
    expect(sets?.get(TYPE.TXT)?.signatures).toHaveLength(1);
  });

  it('are stored once each', () => {
    const collected = collect('a A 192.0.2.1', signature('a', 'A', 1), signature('a', 'A', 1));
    expect(attachSignatures(collected).count).toBe(1);
  });

  it('without a set that they cover are stray and do not create a name', () => {
    const collected = collect(
      'a A 192.0.2.1',
      signature('a', 'MX', 1),
      signature('b.c', 'A', 2),
      signature('a', 'RRSIG', 3),
    );
    const { count, stray } = attachSignatures(collected);
    expect(count).toBe(0);
    expect(stray.map(({ owner, type }) => `${printName(owner)} ${type}`)).toEqual([
      'a.example. 46',
      'a.example. 46',
      'b.c.example. 46',
    ]);
    expect([...collected.nodes.keys()].map(printName)).toEqual(['a.example.']);
  });

  /** The key tag distinguishes the signatures of a test. */
  function signature(owner: string, covers: string, tag: number, ttl = 60): string {
    return `${owner} ${ttl} RRSIG ${covers} 13 1 ${ttl} 20300101000000 20200101000000 ${tag} example. AAAA`;
  }

  function collect(...lines: readonly string[]): CollectedRecords {
    return collectRecords(APEX, recordsOf(lines.join('\n'), 'example.'), new ProblemList());
  }
});

describe('building a zone', () => {
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

  describe('records that do not form a zone', () => {
    it.each(
      rowsOf(`
no records | | NO_SOA example. has no SOA / NO_APEX_NS example. has no NS
no SOA | NS | NO_SOA example. has no SOA
no NS at the apex | SOA / sub 60 NS ns.sub | NO_APEX_NS example. has no NS
two SOA records (RFC 2181 §6.1) | SOA / @ 3600 SOA ns.example. host.example. 8 10000 2400 604800 1800 / NS | MANY_SOA example. has 2 SOA records, not one
a SOA below the apex | SOA / NS / a 60 SOA b. c. 1 2 3 4 5 | SOA_BELOW_APEX a.example. has a SOA but is not the apex
an owner outside the zone | SOA / NS / www.example.net. 60 A 192.0.2.1 | OUT_OF_ZONE www.example.net. is not in the zone example.
an owner that only appears to end in the apex | SOA / NS / \\007example. 60 A 192.0.2.1 | OUT_OF_ZONE \\007example. is not in the zone example.
CNAME and other data (RFC 1034 §3.6.2) | SOA / NS / a 60 CNAME b / a 60 A 192.0.2.1 / a 60 TXT x | CNAME_AND_OTHER a.example. has both CNAME and A / CNAME_AND_OTHER a.example. has both CNAME and TXT
CNAME at the apex | SOA / NS / @ 60 CNAME b | CNAME_AND_OTHER example. has both CNAME and SOA / CNAME_AND_OTHER example. has both CNAME and NS
two CNAMEs (RFC 2181 §10.1) | SOA / NS / a 60 CNAME b / a 60 CNAME c | MANY_CNAME a.example. has more than one CNAME
two DNAMEs (RFC 6672 §2.4) | SOA / NS / a 60 DNAME b / a 60 DNAME c | MANY_DNAME a.example. has more than one DNAME
DNAME beside CNAME (RFC 6672 §2.4) | SOA / NS / a 60 DNAME b / a 60 CNAME c | DNAME_AND_CNAME a.example. has both DNAME and CNAME
DNAME and NS below the apex (RFC 6672 §2.3) | SOA / NS / a 60 DNAME b / a 60 NS c | DNAME_AND_NS a.example. has both DNAME and NS
records below a DNAME (RFC 6672 §2.4) | SOA / NS / d 60 DNAME x / a.d 60 A 192.0.2.1 / b.a.d 60 A 192.0.2.1 | BELOW_DNAME a.d.example. is below the DNAME at d.example. / BELOW_DNAME b.a.d.example. is below the DNAME at d.example.
records below a DNAME at the apex | SOA / NS / @ 60 DNAME x. / ns 60 A 192.0.2.1 | BELOW_DNAME ns.example. is below the DNAME at example.
NS at a wildcard (RFC 4592 §4.2) | SOA / NS / *.a 60 NS ns | NS_AT_WILDCARD *.a.example. has NS: a wildcard cannot be delegated
a set that does not fit into a message (RFC 1035 §4.2.2) | SOA / NS / big 60 TYPE65280 \\# 65535 ${'00'.repeat(65535)} | SET_TOO_LARGE big.example. TYPE65280: the set does not fit into a message
DS at the apex (RFC 4035 §2.4) | SOA / NS / @ 60 DS 1 SHA | DS_AT_APEX example. has a DS: it belongs to the parent zone
two active NSEC3 chains, which are ambiguous | SOA / NS / @ 0 NSEC3PARAM 1 0 0 - / @ 0 NSEC3PARAM 1 0 0 AB | MANY_NSEC3PARAM example. has 2 NSEC3PARAM with flags 0, not one
an unknown hash algorithm (RFC 5155 §8.1) | SOA / NS / @ 0 NSEC3PARAM 2 0 0 - | NSEC3_ALGORITHM example. has an NSEC3PARAM with the hash algorithm 2: only 1 (SHA-1) is supported
too many hash iterations (RFC 9276 §3.2) | SOA / NS / @ 0 NSEC3PARAM 1 0 51 - | NSEC3_ITERATIONS example. has an NSEC3PARAM with 51 iterations: at most 50 are served
a set that does not fit into a message with its signatures | SOA / NS / big 60 TYPE65280 \\# 65000 ${'00'.repeat(65000)} / big 60 RRSIG TYPE65280 13 2 60 20300101000000 20200101000000 1 example. ${'A'.repeat(800)} | SET_TOO_LARGE big.example. TYPE65280: the set does not fit into a message`),
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

    it('reports owner and type of a problem', () => {
      const result = build(`${SOA}${NS}a 60 CNAME b\na 60 MX 10 b`);
      const first = { code: 'CNAME_AND_OTHER', owner: parseName('a.example.'), type: TYPE.MX };
      expect(result.kind === 'refused' && result.problems[0]).toMatchObject(first);
    });
  });

  describe('records that form a zone', () => {
    const accepted: readonly [string, string][] = [
      ['RRSIG and NSEC beside a CNAME (RFC 4034 §3, §4)', 'a 60 CNAME b\na 60 NSEC b.example. CNAME NSEC'],
      [
        'NS, MX and SRV that point to a CNAME',
        'a 60 CNAME b\n@ 60 NS a\n@ 60 MX 1 a\n_x._tcp 60 SRV 1 1 1 a',
      ],
      ['a DNAME at the apex, beside SOA and NS (RFC 6672 §2.3)', '@ 60 DNAME x.'],
      ['a DNAME at a wildcard (RFC 6672 §3.3)', '*.a 60 DNAME b'],
      ['a CNAME to itself', 'a 60 CNAME a'],
      ['occluded records below a cut', 'c 60 NS x.\na.c 60 TXT x\n*.c 60 TXT x\nns.c 60 A 192.0.2.1'],
      ['a DS without NS', `a 60 DS 1 ${SHA}`],
      ['an unknown type', 'a 60 TYPE65280 \\# 3 010203'],
      ['NS at a name with a star that is not leftmost', 'a.* 60 NS x.'],
      ['DNSKEY at the apex', '@ 60 DNSKEY 257 3 13 AAAA'],
      ['NSEC3 with 50 iterations', '@ 0 NSEC3PARAM 1 0 50 -'],
      ['an idle chain of NSEC3 with other parameters', '@ 0 NSEC3PARAM 1 0 0 -\n@ 0 NSEC3PARAM 2 1 9999 AB'],
    ];

    it.each(accepted)('%s', (_, text) => {
      expect(problemsOf(build(SOA + NS + text))).toEqual([]);
    });

    it('has the serial and the negative TTL: the lower of the SOA TTL and MINIMUM (RFC 2308 §5)', () => {
      expect(built(SOA + NS)).toMatchObject({ apex: APEX, serial: 7, negativeTtl: 1800, records: 2 });
      expect(built(SOA.replace('3600', '600') + NS).negativeTtl).toBe(600);
      expect(built(SOA.replace(' 7 ', ' 4294967295 ') + NS).serial).toBe(4294967295);
    });

    it('has a node for every existing name, including empty non-terminals (RFC 4592 §2.2.2)', () => {
      const zone = built(`${SOA}${NS}a.b.c 60 A 192.0.2.1\n*.e.f 60 A 192.0.2.1`);
      const names = [...zone.nodes.keys()].map(printName).sort();
      expect(names).toEqual(
        wordsOf(`
      *.e.f.example. a.b.c.example. b.c.example. c.example. e.f.example. example. f.example.`),
      );
      expect(zone.nodes.get(parseName('b.c.example.'))?.sets.size).toBe(0);
    });

    it('has a node without sets for a marked name, which is not a record, and above it', () => {
      const marks = ['m', 'x.y', '*.w', 'a', '@'].map((name) =>
        markOf(parseName(name.replace('@', 'example.'), APEX)),
      );
      const records = [...marks, ...recordsOf(`${SOA}${NS}a 60 A 192.0.2.1`, 'example.'), ...marks];
      const result = buildZone(APEX, records);
      if (result.kind === 'refused') throw new Error(problemsOf(result).join());
      const { zone } = result;
      const setsAt = [...zone.nodes.values()].map(
        ({ name, sets }) => `${printName(name)} ${[...sets.keys()]}`,
      );
      const wanted =
        '*.w.example. |a.example. 1|example. 6,2|m.example. |w.example. |x.y.example. |y.example. ';
      expect(setsAt.sort()).toEqual(wanted.split('|'));
      expect(zone.marked).toEqual(new Set(marks.map(({ owner }) => owner)));
      expect([zone.records, built(SOA + NS).marked.size]).toEqual([3, 0]);
      const outside = buildZone(APEX, [...recordsOf(SOA + NS, 'example.'), markOf(parseName('other.'))]);
      expect(problemsOf(outside)).toEqual(['OUT_OF_ZONE other. is not in the zone example.']);
    });

    it('reads each rdata only a few times, even in sets with thousands', () => {
      let reads = 0;
      const counted = (octets: Uint8Array) => watchReads(octets, () => reads++);
      const records = recordsOf(SOA + NS, 'example.');
      for (let i = 0; i < 8000; i++) {
        const owner = i < 4000 ? `many${Math.floor(i / 2000)}` : `h${i}.d${i % 200}`;
        const rdata = counted(Uint8Array.of(10, i >> 16, i >> 8, i & 255));
        records.push({ owner: parseName(`${owner}.example.`), type: TYPE.A, ttl: 60, rdata });
      }
      const result = buildZone(APEX, records);
      expect(result.kind === 'built' && result.zone.records).toBe(8002);
      expect(result.kind === 'built' && result.zone.nodes.size).toBe(4203);
      expect(reads).toBeGreaterThan(0);
      expect(reads).toBeLessThan(40 * 8000);
    });
  });

  it('a zone keeps the content of its digest, even after it is printed and read again (RFC 8976 §A.2)', () => {
    const text = readFileSync('fixtures/zonemd/rfc8976-a2.zone', 'utf8');
    const printed = printZoneFile(APEX, recordsOf(text, 'example.'));
    for (const zone of [built(text), built(printed)])
      expect(inOneGo(verifyZonemd(APEX, recordsOfZone(zone)))).toEqual({ kind: 'valid' });
  });
});

it('the check of a name searches for a DNAME only at the names above it, up to the apex', () => {
  const { apex, nodes } = zoneOf('example.', '@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\na.b.c 60 A 10.0.0.1');
  const askedBy = (text: string) => {
    const asked: string[] = [];
    const problems = new ProblemList();
    const hasDname = (name: Name) => asked.push(printName(name)) < 0;
    checkNode(apex, nodes.get(parseName(text)) ?? expect.unreachable(), hasDname, problems);
    expect(problems.list).toEqual([]);
    return asked;
  };
  expect(askedBy('a.b.c.example.')).toEqual(['b.c.example.', 'c.example.', 'example.']);
  expect(askedBy('example.')).toEqual([]);
});

describe('collecting records', () => {
  function collect(records: readonly ZoneRecord[]): { collected: CollectedRecords; problems: string[] } {
    const problems = new ProblemList();
    const collected = collectRecords(APEX, records, problems);
    return { collected, problems: problems.list.map(({ code, message }) => `${code} ${message}`) };
  }

  function address(owner: Name, change: Partial<ZoneRecord> = {}): ZoneRecord {
    return { owner, type: TYPE.A, ttl: 60, rdata: Uint8Array.of(192, 0, 2, 1), ...change };
  }

  describe('records that cannot be in a zone file', () => {
    const owner = parseName('a.example.');
    const bad: readonly [string, Partial<ZoneRecord>, RegExp][] = [
      ['rdata that is too short', { rdata: Uint8Array.of(192, 0, 2) }, /^BAD_RDATA a\.example\. A: /],
      [
        'a compression pointer',
        { type: TYPE.NS, rdata: Uint8Array.of(0xc0, 0x0c) },
        /^BAD_RDATA a\.example\. NS: /,
      ],
      // type 128 is the first meta-type
      ...[0, TYPE.OPT, TYPE.TSIG, TYPE.AXFR, TYPE.ANY, 128].map((type): (typeof bad)[number] => {
        const name = typeMnemonic(type);
        return [name, { type }, new RegExp(`^META_TYPE a\\.example\\. ${name}: `)];
      }),
      // above 31 bits (RFC 2181 §8)
      ...[2 ** 31, -1, 0.5].map((ttl): (typeof bad)[number] => [
        `TTL ${ttl}`,
        { ttl },
        /^BAD_TTL a\.example\. A: /,
      ]),
    ];

    it.each(bad)('%s', (_, change, problem) => {
      const { collected, problems } = collect([address(owner, change), address(owner)]);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(problem);
      expect(collected.count).toBe(1);
    });
  });

  describe('records of a zone', () => {
    it('are stored once per rdata (RFC 2181 §5), regardless of the case of names in it (RFC 4343)', () => {
      const records = recordsOf(
        'a 60 MX 1 b\na 60 MX 1 B\na 60 MX 2 b\na 60 TXT x\na 60 TXT X\na 60 TXT x',
        'example.',
      );
      const { collected } = collect(records);
      const sets = collected.nodes.get(parseName('a.example.'))?.sets;
      expect(sets?.get(TYPE.MX)?.rdata).toHaveLength(2);
      expect(sets?.get(TYPE.TXT)?.rdata).toHaveLength(2);
      expect(collected.count).toBe(4);
    });

    it('give their set the lowest of their TTLs, in any order (RFC 2181 §5.2)', () => {
      const owner = parseName('a.example.');
      for (const ttls of ['60 30 90', '30 60', '90 60 30']) {
        const records = ttls.split(' ').map((ttl, i) => {
          return address(owner, { ttl: Number(ttl), rdata: Uint8Array.of(192, 0, 2, i) });
        });
        expect(collect(records).collected.nodes.get(owner)?.sets.get(TYPE.A)?.ttl).toBe(30);
      }
    });

    it('are separate if they are signatures or NSEC3, which do not create a name of the zone (RFC 5155 §7.2.8)', () => {
      const signature = (covers: string, ttl: number) =>
        `a ${ttl} RRSIG ${covers} 13 2 60 20300101000000 20200101000000 1 example. AAAA`;
      const hash = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom';
      const records = recordsOf(
        `${signature('A', 60)}\n${signature('TXT', 5)}\n${hash} 60 NSEC3 1 0 0 - ${hash} A\n`,
        'example.',
      );
      const { collected, problems } = collect(records);
      expect([problems, collected.nodes.size, collected.count]).toEqual([[], 0, 1]);
      expect([...collected.hashed.keys()]).toEqual([parseName(`${hash}.example.`)]);
      const ofOwner = collected.signatures.get(parseName('a.example.'));
      expect([...(ofOwner ?? [])].map(([type, { ttl, rdata }]) => [type, ttl, rdata.length])).toEqual([
        [TYPE.A, 60, 1],
        [TYPE.TXT, 5, 1],
      ]);
    });
  });
});

test('an edge set has distinct addresses in canonical order', () => {
  const rdata = rdataOfSet(TYPE.A, ['192.0.2.9', '10.0.0.1', '192.0.2.9']);
  expect(rdata.map((one) => [...one])).toEqual([
    [10, 0, 0, 1],
    [192, 0, 2, 9],
  ]);
  expect(rdataOfSet(TYPE.AAAA, ['2001:db8::1'])[0]).toHaveLength(16);
});

test('the id of an edge set depends on its content, in any order', () => {
  const id = (type: number, ...addresses: string[]) =>
    Buffer.from(idOfSet(type, rdataOfSet(type, addresses))).toString('hex');
  expect(id(TYPE.A, '192.0.2.1', '192.0.2.2')).toBe(id(TYPE.A, '192.0.2.2', '192.0.2.1'));
  expect(id(TYPE.A, '192.0.2.1')).not.toBe(id(TYPE.A, '192.0.2.2'));
  expect(id(TYPE.A)).not.toBe(id(TYPE.AAAA));
  expect(id(TYPE.A)).toHaveLength(2 * SET_ID_OCTETS);
});

it.each([
  ['www', 'www', false],
  ['WWW.Example.com.', 'WWW.Example.com', true],
  ['bücher.example', 'xn--bcher-kva.example', false],
  ['BÜCHER', 'xn--bcher-kva', false],
  ['straße', 'xn--strae-oqa', false],
  ['a。b．c｡', 'a.b.c', true],
  ['_dmarc', '_dmarc', false],
  ['0/25', '0/25', false],
  ['*', '*', false],
  ['a-*.pages', 'a-*.pages', false],
  ['a\\.b', 'a\\.b', false],
  ['a\\032b', 'a\\032b', false],
])('%s is %s', (text, ascii, absolute) => {
  expect(asciiText(text)).toEqual({ kind: 'text', text: ascii, absolute });
});

it.each(
  '|a..b|.a|a b|a!b|a@b|⒈com|\u0300a|ü*|ü/a|a\u200db|１ ü|a\tb'.split('|'),
)('"%s" is not a name', (text) => {
  expect(asciiText(text).kind).toBe('problem');
});

it.each(
  wordsOf(`
  a\\.b.example. a\\033b.example. \\*a.example. *.example. \\200.example. .`),
)('the printed form of %s is read again', (text) => {
  const name = parseName(text);
  const printed = printWithoutDot(name);
  expect(printed === '.' ? printed : asciiText(printed).kind).toBe(printed === '.' ? '.' : 'text');
  expect(readName(printed === '.' ? '.' : `${printed}.`)).toEqual({ kind: 'name', name });
});

it('invalid escapes and long labels are problems, not exceptions', () => {
  expect(readName('a\\999.').kind).toBe('problem');
  expect(readName(`${'a'.repeat(64)}.`).kind).toBe('problem');
});

describe('the records of a zone', () => {
  const TEXT = `@ 60 SOA ns h 1 2 3 4 30\n@ 60 NS ns\nns 30 A 192.0.2.1\ncut 60 NS ns.cut\nns.cut 60 A 192.0.2.2\n*.a.b 60 TXT x\n`;
  const NSEC3 = { kind: 'nsec3', iterations: 1, salt: Uint8Array.of(1), optOut: false } as const;
  const SIGNED = signRecords(APEX, recordsOf(TEXT, 'example.'), {
    key: makeKey(13),
    time: { inception: 1, expiration: 2 },
    denial: NSEC3,
  });
  const IDLE = recordsOf(
    '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom 30 NSEC3 1 0 0 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR A',
    'example.',
  );

  const built = (records: readonly ZoneRecord[]) => zoneOfRecords(APEX, records);

  it.each([
    ['unsigned', recordsOf(TEXT, 'example.')],
    ['signed', SIGNED],
    ['signed, with another chain that is idle', [...SIGNED, ...IDLE]],
  ])('form the same zone again if it is %s', (_, records) => {
    const zone = built(records);
    const again = [...recordsOfZone(zone)];
    expect(built(again)).toEqual(zone);
    expect(again).toHaveLength(zone.records);
    expect(zone.records).toBe(records.length);
  });

  it('have the TTL that is served', () => {
    const signature = 'ns 900 RRSIG A 13 2 30 20300101000000 20200101000000 1 example. AAAA';
    const lower = recordsOf('ns 20 A 192.0.2.3', 'example.');
    const records = [...recordsOf(`${TEXT}${signature}`, 'example.'), ...lower];
    const owner = parseName('ns.example.');
    expect(
      [...recordsOfZone(built(records))].filter((one) => one.owner === owner).map(({ ttl }) => ttl),
    ).toEqual([20, 20, 20]);
  });
});

it('lists a thousand problems, then reports that there are more', () => {
  const problems = new ProblemList();
  for (let i = 0; i < 5000; i++) problems.report('BAD_TTL', `number ${i}`);
  expect(problems.list).toHaveLength(1001);
  expect(problems.list[999]).toEqual({ code: 'BAD_TTL', message: 'number 999' });
  expect(problems.list[1000]?.message).toBe('only the first 1000 are listed');
});
