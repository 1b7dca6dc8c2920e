import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { nextSerial, withSerial } from '../../../src/zone/serial.ts';
import { differencesOf, type VersionChange } from '../../../src/zone/transfer/condense.ts';
import type { Difference } from '../../../src/zone/transfer/read-transfer.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random, randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.test.');
const SOA = recordsOf('@ 60 SOA ns host 1 2 3 4 5', 'example.test.')[0] as ZoneRecord;
const soa = (serial: number): ZoneRecord => ({ ...SOA, rdata: withSerial(SOA.rdata, serial) });
const a = (owner: string, last: number, ttl = 300): ZoneRecord => ({
  owner: parseName(owner, APEX),
  type: TYPE.A,
  ttl,
  rdata: Uint8Array.of(192, 0, 2, last),
});
const keyOf = ({ owner, type, ttl, rdata }: ZoneRecord) => `${owner} ${type} ${ttl} ${rdata.join()}`;
const version = (from: number, removed: ZoneRecord[], added: ZoneRecord[]): VersionChange => ({
  isNewSerial: true,
  removed: [...removed, soa(from)],
  added: [...added, soa(from + 1)],
});

/** Applies a difference. Throws if it removes what is missing, or adds what exists. */
function apply(zone: Set<string>, { removed, added }: Difference): Set<string> {
  const result = new Set(zone);
  for (const record of removed)
    if (!result.delete(keyOf(record))) throw new Error(`missing ${keyOf(record)}`);
  for (const record of added) {
    if (result.has(keyOf(record))) throw new Error(`present ${keyOf(record)}`);
    result.add(keyOf(record));
  }
  return result;
}

/** A random version: sets are removed, refilled, or get another TTL; some records are written twice, as in two chunks. */
function randomVersion(random: Random, zone: ReadonlyMap<string, ZoneRecord>, serial: number): VersionChange {
  const removed: ZoneRecord[] = [];
  const added: ZoneRecord[] = [];
  const isNewSerial = random() < 0.8;
  for (const owner of ['a', 'b', 'c', 'd']) {
    if (random() < 0.5) continue;
    const present = [...zone.values()].filter((record) => record.owner === parseName(owner, APEX));
    const ttl = pick(random, [60, 300]);
    const wanted = [1, 2, 3].filter(() => random() < 0.5).map((last) => a(owner, last, ttl));
    const keys = new Set(present.map(keyOf));
    const wantedKeys = new Set(wanted.map(keyOf));
    const isRewritten = random() < 0.3;
    removed.push(...present.filter((record) => isRewritten || !wantedKeys.has(keyOf(record))));
    added.push(...wanted.filter((record) => isRewritten || !keys.has(keyOf(record))));
  }
  if (isNewSerial) {
    removed.push(soa(serial));
    added.push(soa(nextSerial(serial)));
  }
  return { isNewSerial, removed, added };
}

const seeds = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('differences', () => {
  it.each(seeds(scale(2000, 100)))('lead from one version to the other (history %i)', (seed) => {
    const random = randomFrom(seed);
    let serial = pick(random, [1, 7, 0xffff_fffd]);
    const zone = new Map([soa(serial), a('a', 1), a('b', 2)].map((record) => [keyOf(record), record]));
    const from = new Set(zone.keys());
    const versions: VersionChange[] = [];
    const first = serial;
    for (let i = pick(random, [1, 3, 150]); i > 0; i--) {
      const change = randomVersion(random, zone, serial);
      if (change.isNewSerial) serial = nextSerial(serial);
      for (const record of change.removed) zone.delete(keyOf(record));
      for (const record of change.added) zone.set(keyOf(record), record);
      versions.push(change);
    }
    if (serial === first) return;
    const differences = differencesOf(versions) as readonly Difference[];
    expect(differences.reduce(apply, from)).toEqual(new Set(zone.keys()));
    expect([differences[0]?.serialBefore, differences.at(-1)?.serialAfter]).toEqual([first, serial]);
    expect(differences.length).toBeLessThanOrEqual(100);
    for (const { removed, added } of differences)
      for (const records of [removed, added])
        expect(records.map(({ type }) => type === TYPE.SOA)).toEqual(records.map((_, i) => i === 0));
  });

  it.each([
    ['stay apart if nothing cancels out', [version(1, [], [a('x', 1)]), version(2, [], [a('x', 2)])], 2],
    [
      'are condensed if a record is added and removed',
      [version(1, [], [a('x', 1)]), version(2, [a('x', 1)], [])],
      1,
    ],
    [
      'are condensed if a TTL changes twice',
      [version(1, [a('x', 1, 1)], [a('x', 1, 2)]), version(2, [a('x', 1, 2)], [a('x', 1, 3)])],
      1,
    ],
    ['up to 100 stay apart', Array.from({ length: 100 }, (_, i) => version(i + 1, [], [a(`x${i}`, 1)])), 100],
    [
      'above 100 are condensed',
      Array.from({ length: 101 }, (_, i) => version(i + 1, [], [a(`x${i}`, 1)])),
      1,
    ],
    [
      'include a version without a new serial',
      [
        { ...version(1, [], [a('x', 1)]), isNewSerial: true },
        { isNewSerial: false, removed: [], added: [a('y', 1)] },
      ],
      1,
    ],
  ] as [string, VersionChange[], number][])('%s', (_, versions, count) => {
    expect(differencesOf(versions)).toHaveLength(count);
  });

  it('do not exist if a new serial has no SOA', () => {
    expect(differencesOf([{ isNewSerial: true, removed: [], added: [a('x', 1)] }])).toBeUndefined();
  });
});
