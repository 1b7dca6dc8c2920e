// Editing a zone where it is served gives what building it anew would give: the same zone, or the same problems.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import type { ZoneChanges } from '../../../src/zone/image/edit-zone.ts';
import type { Image } from '../../../src/zone/image/image.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readRoot } from '../../../src/zone/image/zone-root.ts';
import {
  MARK_TYPE,
  markOf,
  type RecordSet,
  unprovenMarkOf,
  type Zone,
  type ZoneRecord,
} from '../../../src/zone/zone.ts';
import { pick, type Random, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { expectSame, log2BucketsIn, smallImage, zoneInImage } from '../../support/zone/zone-image.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };
const SOA_AND_NS = '@ 3600 SOA ns host 7 10000 2400 604800 1800\n@ 3600 NS ns\n';
const APEX = parseName('example.');

type Sets = Map<string, RecordSet>;

function keyOf({ owner, type }: { owner: Name; type: number }): string {
  return `${type} ${owner}`;
}

function setsOf(zone: Zone): Sets {
  const sets: Sets = new Map();
  for (const node of zone.nodes.values()) for (const set of node.sets.values()) sets.set(keyOf(set), set);
  return sets;
}

function recordsIn(sets: Sets): ZoneRecord[] {
  return [...sets.values()].flatMap(({ owner, type, ttl, rdata }) =>
    rdata.map((one) => ({ owner, type, ttl, rdata: one })),
  );
}

/** The zone that a fresh image has after a `put`, and its problems when there is no such zone. */
function fromScratch(apex: Name, records: Iterable<ZoneRecord>, version: number) {
  const built = buildZone(apex, records);
  if (built.kind === 'refused') return built;
  const image = smallImage(2 ** 19);
  new ImageWriter(image).put(built.zone, { ...CONTENT, version });
  return { kind: 'built' as const, zone: zoneInImage(image, apex) };
}

/** Some sets of `to` in the place of those of `from`, and some taken away. */
function randomStep(random: Random, from: Sets, to: Sets): { changes: ZoneChanges; after: Sets } {
  const after = new Map(from);
  const gone: { owner: Name; type: number }[] = [];
  const records: ZoneRecord[] = [];
  const count = 1 + Math.floor(random() * 4);
  for (let i = 0; i < count; i++) {
    const key = pick(random, [...new Set([...from.keys(), ...to.keys()])]);
    const set = to.get(key);
    if (records.some((record) => keyOf(record) === key) || gone.some((other) => keyOf(other) === key))
      continue;
    if (set === undefined || random() < 0.2) {
      const known = (from.get(key) ?? set) as RecordSet;
      gone.push({ owner: known.owner, type: known.type });
      after.delete(key);
    } else {
      for (const one of set.rdata)
        records.push({ owner: set.owner, type: set.type, ttl: set.ttl, rdata: one });
      after.set(key, set);
    }
  }
  return { changes: { records, gone }, after };
}

describe('edits of a served zone', () => {
  it('that write many records, as an import does, keep the others', () => {
    const text = 'old 60 A 192.0.2.1\nkept 60 TXT kept\n';
    const { image, writer } = served(text);
    const before = recordsOf(SOA_AND_NS + text, 'example.');
    const records = Array.from({ length: 3000 }, (_, i) => ({
      owner: parseName(`host${i}.example.`),
      type: TYPE.A,
      ttl: 300,
      rdata: Uint8Array.of(192, 0, i >> 8, i & 255),
    }));
    const old = parseName('old.example.');
    const changes = { records, gone: [{ owner: old, type: TYPE.A }] };
    expect(writer.edit(APEX, { ...CONTENT, version: 2 }, changes)).toEqual({ kind: 'edited' });
    const after = fromScratch(APEX, [...before.filter(({ owner }) => owner !== old), ...records], 2);
    expect(isDeepStrictEqual(zoneInImage(image, APEX), after.kind === 'built' && after.zone)).toBe(true);
    expect(image.records).toBe(before.length - 1 + records.length);
  });

  it('lead from any zone to any other by steps, each equal to a zone built anew, or refused like it', () => {
    let edited = 0;
    let refused = 0;
    for (let seed = 1; seed <= scale(1000, 10); seed++) {
      const random = randomFrom(seed);
      const apexText = seed % 5 === 0 ? '.' : 'zone.example.';
      const { zone } = randomZone(random, apexText, 3 + (seed % 40), []);
      const { zone: goal } = randomZone(random, apexText, 3 + (seed % 30), []);
      const image = smallImage(2 ** 19);
      const writer = new ImageWriter(image);
      writer.put(zone, CONTENT);
      let sets = setsOf(zone);
      for (let version = 2; version < 30; version++) {
        const { changes, after } = randomStep(random, sets, setsOf(goal));
        const before = zoneInImage(image, zone.apex);
        const expected = fromScratch(zone.apex, recordsIn(after), version);
        const result = writer.edit(zone.apex, { ...CONTENT, version }, changes);
        if (expected.kind === 'refused') {
          refused++;
          expect(result).toMatchObject({ kind: 'refused' });
          expect(problemsOf(result)).toEqual(problemsOf(expected));
          expectSame(zoneInImage(image, zone.apex), before);
        } else {
          edited++;
          expect(result).toEqual({ kind: 'edited' });
          expectSame(zoneInImage(image, zone.apex), expected.zone);
          sets = after;
        }
      }
    }
    expect(edited).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(20);
  });
});

function problemsOf(result: unknown): string[] {
  const { problems } = result as { problems: readonly { message: string }[] };
  return problems.map(({ message }) => message).sort();
}

function served(text: string): { image: Image; writer: ImageWriter } {
  const image = smallImage(2 ** 19);
  const writer = new ImageWriter(image);
  writer.put(zoneOf('example.', SOA_AND_NS + text), CONTENT);
  return { image, writer };
}

const changesOf = (text: string, gone: [string, number][] = []): ZoneChanges => ({
  records: recordsOf(text, 'example.'),
  gone: gone.map(([name, type]) => ({ owner: parseName(name), type })),
});

describe('an edit', () => {
  it.each(
    rowsOf(`
adds a name | | +a 60 A 192.0.2.1 | a 60 A 192.0.2.1
replaces a set whole | a 60 A 192.0.2.1 | +a 30 A 192.0.2.2 | a 30 A 192.0.2.2
adds the names above a name | | +a.b.c 60 A 192.0.2.1 | a.b.c 60 A 192.0.2.1
takes away the names above that nothing else needs | a.b.c 60 A 192.0.2.1 / d.c 60 A 192.0.2.1 | -a.b.c.example. A | d.c 60 A 192.0.2.1
keeps a name for what lies below it | c 60 A 192.0.2.1 / a.b.c 60 A 192.0.2.1 | -c.example. A | a.b.c 60 A 192.0.2.1
makes a wildcard | a 60 A 192.0.2.1 | +*.a 60 TXT x | a 60 A 192.0.2.1 / *.a 60 TXT x
takes a wildcard away | a 60 A 192.0.2.1 / *.a 60 TXT x | -*.a.example. TXT | a 60 A 192.0.2.1
moves an alias | a 60 A 192.0.2.1 | +a 60 CNAME b / -a.example. A | a 60 CNAME b
replaces the SOA | | +@ 60 SOA ns host 8 1 1 1 5 | @ 60 SOA ns host 8 1 1 1 5
does nothing for a set that is not there | | -x.y.example. A |
does nothing for a name outside | | -example.net. A |
may put a DNAME where nothing is below | d 60 TXT x | +d 60 DNAME e | d 60 TXT x / d 60 DNAME e
may not put it above a name | x.d 60 TXT x | +d 60 DNAME e | refused
may do so when the name goes | y.x.d 60 TXT x | +d 60 DNAME e / -y.x.d.example. TXT | d 60 DNAME e
may not put a name below a DNAME | d 60 DNAME e | +a.b.d 60 TXT x | refused
may do so when the DNAME goes | d 60 DNAME e | +a.b.d 60 TXT x / -d.example. DNAME | a.b.d 60 TXT x
may not take the SOA | | -example. SOA | refused
may not take the name servers | | -example. NS | refused
may not make a set that fits in no message | a 60 TXT x | +a 60 TYPE65280 \\# 65500 ${'00'.repeat(65500)} | refused
may not put anything beside an alias | a 60 CNAME b | +a 60 TXT x | refused`),
  )('%s', (_, before, edited, after = '') => {
    const text = itemsOf(before).join('\n');
    const result = after === 'refused' ? undefined : itemsOf(after).join('\n');
    const lines = itemsOf(edited);
    const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
    const gone = lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1).split(' '));
    const changes = changesOf(
      added.join('\n'),
      gone.map(([name = '', type]) => [name, TYPE[type as keyof typeof TYPE]]),
    );
    const { image, writer } = served(text);
    const former = zoneInImage(image, APEX);
    const outcome = writer.edit(APEX, { ...CONTENT, version: 2 }, changes);
    if (result === undefined) {
      expect(outcome).toMatchObject({ kind: 'refused', problems: [expect.anything()] });
      expect(zoneInImage(image, APEX)).toEqual(former);
      return;
    }
    expect(outcome).toEqual({ kind: 'edited' });
    const soa = result.includes(' SOA ') ? '@ 3600 NS ns\n' : SOA_AND_NS;
    const expected = fromScratch(APEX, recordsOf(soa + result, 'example.'), 2);
    expect(zoneInImage(image, APEX)).toEqual(expected.kind === 'built' && expected.zone);
  });

  it('sets and clears the marks at the apex, which never has both', () => {
    const { image, writer } = served('a 60 A 192.0.2.1');
    const none: ZoneChanges = { records: [], gone: [] };
    const cleared = { ...none, gone: [{ owner: APEX, type: MARK_TYPE }] };
    const [apexOnly, unproven] = [markOf(APEX), unprovenMarkOf(APEX)].map((mark) => ({
      ...none,
      records: [mark],
    }));
    const steps: readonly (readonly [ZoneChanges | undefined, apexOnly: boolean, unproven: boolean])[] = [
      [none, false, false],
      [apexOnly, true, false],
      [changesOf('a 60 A 192.0.2.2'), true, false],
      [cleared, false, false],
      [unproven, false, true],
      [changesOf('a 60 A 192.0.2.3\n@ 60 TXT x'), false, true],
      [apexOnly, true, false],
      [unproven, false, true],
      // A DNAME above other names makes the writer build the zone again, from its records and marks.
      [changesOf('d 60 DNAME example.net.'), false, true],
      [cleared, false, false],
    ];
    for (const [i, [changes = none, isApexOnly, isUnproven]] of steps.entries()) {
      writer.edit(APEX, { ...CONTENT, version: i + 2 }, changes);
      const root = readRoot(image, writer.rootOf(APEX));
      expect([i, root.apexOnly, root.unproven]).toEqual([i, isApexOnly, isUnproven]);
      writer.reclaim();
      expect(findImageFault(image, writer.exportFree())).toBeUndefined();
    }
  });

  it('of nothing gives the unchanged zone another version', () => {
    const { writer } = served('a 60 A 192.0.2.1');
    writer.edit(APEX, { id: 2, version: 7, mark: 9 }, { records: [], gone: [] });
    expect(writer.contentOf(APEX)).toMatchObject({ id: 2, version: 7, mark: 9 });
  });

  it('of a zone that is not served throws', () => {
    const { writer } = served('');
    expect(() => writer.edit(parseName('a.example.'), CONTENT, changesOf(''))).toThrow(RangeError);
  });

  it('doubles and halves the buckets as names are added and removed', () => {
    const { image, writer } = served('');
    const names = Array.from({ length: 500 }, (_, i) => `n${i}.example.`);
    const log2: number[] = [];
    const note = (): void => {
      const now = log2BucketsIn(image, APEX);
      if (log2.at(-1) !== now) log2.push(now);
    };
    for (const name of names) {
      writer.edit(APEX, CONTENT, changesOf(`${name} 60 A 192.0.2.1`));
      note();
    }
    for (const name of names) {
      writer.edit(APEX, CONTENT, changesOf('', [[name, TYPE.A]]));
      note();
    }
    expect(log2).toEqual([0, 1, 2, 3, 4, 5, 6, 4, 2, 0]);
    const expected = fromScratch(APEX, recordsOf(SOA_AND_NS, 'example.'), 1);
    expect(zoneInImage(image, APEX)).toEqual(expected.kind === 'built' && expected.zone);
  });
});
