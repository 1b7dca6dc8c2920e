// What is a record of a zone at all, and how records make sets: each rdata once, one TTL.

import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { type CollectedRecords, collectRecords } from '../../src/zone/collect-records.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { ProblemList } from '../../src/zone/zone-problem.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');

function collect(records: readonly ZoneRecord[]): { collected: CollectedRecords; problems: string[] } {
  const problems = new ProblemList();
  const collected = collectRecords(APEX, records, problems);
  return { collected, problems: problems.list.map(({ code, message }) => `${code} ${message}`) };
}

function address(owner: Name, change: Partial<ZoneRecord> = {}): ZoneRecord {
  return { owner, type: TYPE.A, ttl: 60, rdata: Uint8Array.of(192, 0, 2, 1), ...change };
}

describe('records that no zone file can contain', () => {
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
  it('are held once for each rdata (RFC 2181 §5), names in any case being the same (RFC 4343)', () => {
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

  it('are apart where they are signatures or NSEC3, which make no name of the zone (RFC 5155 §7.2.8)', () => {
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
