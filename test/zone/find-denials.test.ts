import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { printBase32Hex } from '../../src/dns/record/base-encodings.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { hashParameters } from '../../src/zone/find-denials.ts';
import type { Zone } from '../../src/zone/zone.ts';
import { recordsOf, zoneOf } from '../support/zone/zone-text.ts';

const SOA = '@ 3600 SOA ns h 1 2 3 4 1800\n@ 3600 NS ns.example.net.\n';
const SIGNED = `${SOA}@ 3600 RRSIG SOA 13 1 3600 20300101000000 20200101000000 1 example. AAAA\n`;
const FIRST = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom';
const LAST = 'r53bq7cc2uvmubfu5ocmm6pers9tk9en';

const hashed = (owner: string, parameters: string, next: string) =>
  `${owner} 1800 NSEC3 1 0 ${parameters} ${next} A\n`;

function idleOwners({ idleDenials = [] }: Zone): string[] {
  return idleDenials.map(({ owner }) => printName(owner));
}

describe('a zone', () => {
  it('is signed if its SOA has a signature, not if only other sets have one', () => {
    const unsigned = `${SOA}a 60 A 192.0.2.1\na 60 RRSIG A 13 2 60 20300101000000 20200101000000 1 example. AAAA\na 60 NSEC @ A\n`;
    expect(zoneOf('example.', unsigned).denials).toBeUndefined();
    expect(zoneOf('example.', SIGNED).denials).toEqual({ kind: 'nsec', owners: [] });
  });

  it('has its NSEC in canonical order (RFC 4034 §6.1)', () => {
    const names = ['z', '*.z', 'a', '@', 'b.a', 'B'];
    const { denials } = zoneOf(
      'example.',
      SIGNED + names.map((name) => `${name} 1800 NSEC a SOA`).join('\n'),
    );
    const owners = denials?.kind === 'nsec' ? denials.owners : [];
    expect(owners.map(printName)).toEqual(
      ['', 'a.', 'b.a.', 'b.', 'z.', '*.z.'].map((prefix) => `${prefix}example.`),
    );
  });

  it('uses the NSEC3 records of the parameters with flags 0 at its apex, sorted by hash (RFC 5155 §4)', () => {
    const zone = zoneOf(
      'example.',
      `${SIGNED}@ 0 NSEC3PARAM 1 0 5 ABCD\n@ 0 NSEC3PARAM 1 1 0 -\n` +
        hashed(LAST, '5 ABCD', FIRST) +
        hashed(FIRST, '5 ABCD', LAST) +
        hashed(FIRST.replace('0', '1'), '0 -', LAST) +
        hashed(FIRST.replace('0', '2'), '5 AB', LAST),
    );
    expect(zone.denials).toMatchObject({ kind: 'nsec3', iterations: 5, salt: Uint8Array.of(0xab, 0xcd) });
    const entries = zone.denials?.kind === 'nsec3' ? zone.denials.entries : [];
    expect(entries.map(({ hash }) => printBase32Hex(hash).toLowerCase())).toEqual([FIRST, LAST]);
    expect(entries.map(({ set }) => printName(set.owner))).toEqual(
      [FIRST, LAST].map((hash) => `${hash}.example.`),
    );
    expect(idleOwners(zone)).toEqual([`1${FIRST.slice(1)}.example.`, `2${FIRST.slice(1)}.example.`]);
    expect(zone.records).toBe(9);
  });

  it('keeps NSEC3 records that prove nothing yet, because the records that activate them are added last', () => {
    const chain = hashed(FIRST, '0 -', FIRST);
    const [parameters, ...texts] = ['@ 0 NSEC3PARAM 1 0 0 -\n', SOA, SIGNED];
    for (const text of texts) {
      const zone = zoneOf('example.', text + chain);
      expect(zone.denials?.kind).toBe(text === SIGNED ? 'nsec' : undefined);
      expect(idleOwners(zone)).toEqual([`${FIRST}.example.`]);
    }
    expect(idleOwners(zoneOf('example.', SOA + parameters + chain))).toEqual([`${FIRST}.example.`]);
    expect(zoneOf('example.', SIGNED + parameters + chain).idleDenials).toBeUndefined();
  });

  it('ignores an NSEC3 record whose owner is not a hash directly below the apex (RFC 5155 §3)', () => {
    const text = `${SIGNED}@ 0 NSEC3PARAM 1 0 0 -\n${hashed(`${FIRST}.a`, '0 -', FIRST)}${hashed('abc', '0 -', FIRST)}${hashed('@', '0 -', FIRST)}`;
    const zone = zoneOf('example.', text);
    expect(zone.denials).toMatchObject({ kind: 'nsec3', entries: [] });
    expect(zone.idleDenials).toHaveLength(3);
    expect([...zone.nodes.keys()]).toEqual([zone.apex]);
  });
});

it('hashParameters ignores parameters with other flags (RFC 5155 §4.1.2)', () => {
  const rdata = recordsOf('a. NSEC3PARAM 1 1 7 -\na. NSEC3PARAM 1 0 3 AB').map((record) => record.rdata);
  const set = { owner: parseName('a.'), type: TYPE.NSEC3PARAM, ttl: 0, rdata };
  expect(hashParameters(set)).toEqual([
    { hashAlgorithm: 1, flags: 0, iterations: 3, salt: Uint8Array.of(0xab) },
  ]);
  expect(hashParameters(undefined)).toEqual([]);
});
