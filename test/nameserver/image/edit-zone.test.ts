import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { type Name, parseName, prependLabel, ROOT } from '../../../src/dns/name.ts';
import { NSEC } from '../../../src/dns/record/types/dnssec.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findImageFault } from '../../../src/nameserver/image/check/check-image.ts';
import type { ZoneChanges } from '../../../src/nameserver/image/edit-zone.ts';
import { createImage, Image } from '../../../src/nameserver/image/image.ts';
import { MAX_LEAF_ITEMS, MIN_LEAF_ITEMS } from '../../../src/nameserver/image/layout.ts';
import { blocksOf, findOrdered, forEachOrdered } from '../../../src/nameserver/image/order-index.ts';
import { ownerOfNode } from '../../../src/nameserver/image/read-node.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import { readRoot } from '../../../src/nameserver/image/zone-root.ts';
import { findRoot } from '../../../src/nameserver/image/zone-table.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { recordsOfZone } from '../../../src/zone/records-of-zone.ts';
import {
  expiredMarkOf,
  MARK_TYPE,
  markOf,
  privateMarkOf,
  type RecordSet,
  unprovenMarkOf,
  type Zone,
  type ZoneRecord,
} from '../../../src/zone/zone.ts';
import { RANDOM_RDATA } from '../../support/random/random-rdata.ts';
import { pick, type Random, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { changesBetween, thinned } from '../../support/random/signed-zones.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { DENIAL_STYLES, signedRecords, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { expectSame, log2BucketsIn, smallImage, zoneInImage } from '../../support/zone/zone-image.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };
const APEX = parseName('example.');

const SOA_AND_NS = '@ 3600 SOA ns host 7 10000 2400 604800 1800\n@ 3600 NS ns\n';

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

/** Returns the zone that a fresh image has after a `put`, or its problems if it is not valid. */
function fromScratch(apex: Name, records: Iterable<ZoneRecord>, version: number) {
  const built = buildZone(apex, records);
  if (built.kind === 'refused') return built;
  const image = smallImage(2 ** 19);
  new ImageWriter(image).put(built.zone, { ...CONTENT, version });
  return { kind: 'built' as const, zone: zoneInImage(image, apex) };
}

/** Replaces some sets of `from` with those of `to`, and removes some. */
function randomStep(random: Random, from: Sets, to: Sets): { changes: ZoneChanges; after: Sets } {
  const after = new Map(from);
  const gone: { owner: Name; type: number }[] = [];
  const records: ZoneRecord[] = [];
  const count = 1 + Math.floor(random() * 6);
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
  it('that write many records, as imports do, keep the others', () => {
    const text = 'old 60 A 192.0.2.1\nkept 60 TXT kept\n';
    const { image, writer } = served(text);
    const before = recordsOf(SOA_AND_NS + text, 'example.');
    const records = Array.from({ length: 300 }, (_, i) => ({
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

  it('lead from any zone to any other in steps, each equal to a rebuilt zone or refused like it', () => {
    let edited = 0;
    let refused = 0;
    for (let seed = 1; seed <= scale(1000, 5); seed++) {
      const random = randomFrom(seed);
      const apexText = seed % 5 === 0 ? '.' : 'zone.example.';
      const { zone } = randomZone(random, apexText, 3 + (seed % 40), []);
      const { zone: goal } = randomZone(random, apexText, 3 + (seed % 30), []);
      const image = smallImage(2 ** 19);
      const writer = new ImageWriter(image);
      writer.put(zone, CONTENT);
      let sets = setsOf(zone);
      let before = zoneInImage(image, zone.apex);
      const goalSets = setsOf(goal);
      for (let version = 2; version < 24; version++) {
        const { changes, after } = randomStep(random, sets, goalSets);
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
          before = zoneInImage(image, zone.apex);
          expectSame(before, expected.zone);
          sets = after;
        }
      }
    }
    expect(edited).toBeGreaterThan(80);
    expect(refused).toBeGreaterThan(10);
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
replaces a whole set | a 60 A 192.0.2.1 | +a 30 A 192.0.2.2 | a 30 A 192.0.2.2
adds the names above a name | | +a.b.c 60 A 192.0.2.1 | a.b.c 60 A 192.0.2.1
removes names above that nothing else needs | a.b.c 60 A 192.0.2.1 / d.c 60 A 192.0.2.1 | -a.b.c.example. A | d.c 60 A 192.0.2.1
keeps a name that has names below it | c 60 A 192.0.2.1 / a.b.c 60 A 192.0.2.1 | -c.example. A | a.b.c 60 A 192.0.2.1
adds a wildcard | a 60 A 192.0.2.1 | +*.a 60 TXT x | a 60 A 192.0.2.1 / *.a 60 TXT x
removes a wildcard | a 60 A 192.0.2.1 / *.a 60 TXT x | -*.a.example. TXT | a 60 A 192.0.2.1
replaces an address with an alias | a 60 A 192.0.2.1 | +a 60 CNAME b / -a.example. A | a 60 CNAME b
replaces the SOA | | +@ 60 SOA ns host 8 1 1 1 5 | @ 60 SOA ns host 8 1 1 1 5
ignores the removal of a set that does not exist | | -x.y.example. A |
ignores a name outside the zone | | -example.net. A |
accepts a DNAME without names below it | d 60 TXT x | +d 60 DNAME e | d 60 TXT x / d 60 DNAME e
refuses a DNAME above a name | x.d 60 TXT x | +d 60 DNAME e | refused
accepts a DNAME if the name below it is removed | y.x.d 60 TXT x | +d 60 DNAME e / -y.x.d.example. TXT | d 60 DNAME e
refuses a name below a DNAME | d 60 DNAME e | +a.b.d 60 TXT x | refused
accepts the name if the DNAME is removed | d 60 DNAME e | +a.b.d 60 TXT x / -d.example. DNAME | a.b.d 60 TXT x
refuses to remove the SOA | | -example. SOA | refused
refuses to remove the NS set | | -example. NS | refused
refuses a set that does not fit into a message | a 60 TXT x | +a 60 TYPE65280 \\# 65500 ${'00'.repeat(65500)} | refused
refuses another record at the owner of an alias | a 60 CNAME b | +a 60 TXT x | refused`),
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

  it('sets and clears the marks at the apex, which never has two', () => {
    const { image, writer } = served('a 60 A 192.0.2.1');
    const none: ZoneChanges = { records: [], gone: [] };
    const cleared = { ...none, gone: [{ owner: APEX, type: MARK_TYPE }] };
    const marks = [markOf(APEX), unprovenMarkOf(APEX), expiredMarkOf(APEX), privateMarkOf(APEX)];
    const [apexOnly, unproven, expired, isPrivate] = marks.map((mark) => ({ ...none, records: [mark] }));
    type Flag = 'apexOnly' | 'unproven' | 'expired' | 'isPrivate';
    const steps: readonly (readonly [ZoneChanges | undefined, Flag?])[] = [
      [none],
      [apexOnly, 'apexOnly'],
      [changesOf('a 60 A 192.0.2.2'), 'apexOnly'],
      [cleared],
      [unproven, 'unproven'],
      [changesOf('a 60 A 192.0.2.3\n@ 60 TXT x'), 'unproven'],
      [apexOnly, 'apexOnly'],
      [unproven, 'unproven'],
      // A DNAME above other names makes the writer rebuild the zone from its records and marks.
      [changesOf('d 60 DNAME example.net.'), 'unproven'],
      [expired, 'expired'],
      [changesOf('a 60 A 192.0.2.4\n@ 60 TXT y'), 'expired'],
      [changesOf('e 60 DNAME example.net.'), 'expired'],
      [unproven, 'unproven'],
      [expired, 'expired'],
      [isPrivate, 'isPrivate'],
      [changesOf('a 60 A 192.0.2.5\n@ 60 TXT z'), 'isPrivate'],
      [changesOf('f 60 DNAME example.net.'), 'isPrivate'],
      [cleared],
    ];
    for (const [i, [changes = none, flag]] of steps.entries()) {
      writer.edit(APEX, { ...CONTENT, version: i + 2 }, changes);
      const root = readRoot(image, writer.rootOf(APEX));
      const set = (['apexOnly', 'unproven', 'expired', 'isPrivate'] as const).filter((each) => root[each]);
      expect([i, ...set]).toEqual(flag === undefined ? [i] : [i, flag]);
      writer.reclaim();
      expect(findImageFault(image, writer.exportFree())).toBeUndefined();
    }
  });

  it('without changes gives the zone another version', () => {
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
    const lines = Array.from({ length: 130 }, (_, i) => `n${i} 60 A 192.0.2.1`);
    const records = recordsOf(lines.join('\n'), 'example.');
    const log2: number[] = [];
    const note = (): void => {
      const now = log2BucketsIn(image, APEX);
      if (log2.at(-1) !== now) log2.push(now);
    };
    for (const record of records) {
      writer.edit(APEX, CONTENT, { records: [record], gone: [] });
      note();
    }
    for (const record of records) {
      writer.edit(APEX, CONTENT, { records: [], gone: [record] });
      note();
    }
    expect(log2).toEqual([0, 1, 2, 3, 4, 5, 3, 1, 0]);
    const expected = fromScratch(APEX, recordsOf(SOA_AND_NS, 'example.'), 1);
    expect(zoneInImage(image, APEX)).toEqual(expected.kind === 'built' && expected.zone);
  });
});

const DNSSEC_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM, TYPE.DNSKEY];

/** Sorts NSEC3 sets that prove nothing, which have no order of their own. */
function inOrder(zone: Zone): Zone {
  const { idleDenials } = zone;
  if (idleDenials === undefined) return zone;
  const byOwner = new Map(idleDenials.map((set) => [set.owner, set]));
  return { ...zone, idleDenials: sortNames(byOwner.keys()).map((owner) => byOwner.get(owner) as RecordSet) };
}

/** Changes or removes some sets, then signs the zone, sometimes without some signatures or denials. */
function randomState(random: Random, pool: readonly Zone[]): ZoneRecord[] {
  const zone = pick(random, pool);
  const sets = [...zone.nodes.values()].flatMap(({ sets }) => [...sets.values()]);
  const gone = new Set(sets.filter(({ owner }) => owner !== zone.apex && random() < 0.1));
  const records = sets
    .filter((set) => !gone.has(set))
    .flatMap(({ owner, type, ttl, rdata }) => rdata.map((one) => ({ owner, type, ttl, rdata: one })));
  if (buildZone(zone.apex, records).kind === 'refused') return [...recordsOfZone(zone)];
  return records;
}

describe('a signed zone in an image', () => {
  it('equals the zone that was put, with its signatures and order, even if parts are missing', () => {
    for (let seed = 1; seed <= scale(400, 2); seed++) {
      const random = randomFrom(seed);
      const { zone } = randomZone(random, seed % 7 === 0 ? '.' : 'zone.example.', 5 + (seed % 60), []);
      const signed = signedRecords(zone.apex, [...recordsOfZone(zone)], pick(random, DENIAL_STYLES));
      const records = random() < 0.6 ? signed : thinned(random, signed, DNSSEC_TYPES);
      const built = zoneOfRecords(zone.apex, records);
      const image = smallImage();
      const writer = new ImageWriter(image);
      writer.put(built, CONTENT);
      expectSame(readZone(image, zone.apex), inOrder(built));
      expect(image.records).toBe(built.records);
      expect(findImageFault(image, writer.exportFree()), `seed ${seed}`).toBeUndefined();
      writer.remove(zone.apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });

  it('can be edited from any state to any other, each equal to a rebuilt zone', () => {
    for (let seed = 1; seed <= scale(150, 2); seed++) {
      const random = randomFrom(seed);
      const apexText = seed % 5 === 0 ? '.' : 'zone.example.';
      const pool = [0, 1].map(() => randomZone(random, apexText, 3 + (seed % 50), []).zone);
      const { apex } = pool[0] as Zone;
      const image = smallImage();
      const writer = new ImageWriter(image);
      let denial = pick(random, DENIAL_STYLES);
      let before = [...recordsOfZone(pool[0] as Zone)];
      writer.put(pool[0] as Zone, CONTENT);
      for (let version = 2; version < 14; version++) {
        if (random() < 0.15) denial = pick(random, DENIAL_STYLES);
        const unsigned = randomState(random, pool);
        const signed = random() < 0.1 ? unsigned : signedRecords(apex, unsigned, denial);
        const after = random() < 0.7 ? signed : thinned(random, signed, DNSSEC_TYPES);
        const edited = writer.edit(apex, { ...CONTENT, version }, changesBetween(before, after));
        expect(edited).toEqual({ kind: 'edited' });
        const fresh = smallImage();
        new ImageWriter(fresh).put(zoneOfRecords(apex, after), { ...CONTENT, version });
        expectSame(zoneInImage(image, apex), zoneInImage(fresh, apex));
        expect(image.records).toBe(fresh.records);
        writer.reclaim();
        expect(findImageFault(image, writer.exportFree()), `seed ${seed}`).toBeUndefined();
        before = after;
      }
      writer.remove(apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });
});

/** Labels whose keys share eight or more octets, or differ in escaped octets. */
const LABELS = ['a', 'samelabel', 'samelabelmore', '*', '\xff', 'z'.repeat(63)].concat([
  '\0',
  '\x01',
  '\x01\x01',
  '\0\x01',
]);
const APEX_RECORDS = recordsOf(
  `@ 60 SOA ns host 1 2 3 4 5
@ 60 NS ns.invalid.
@ 60 RRSIG SOA 13 1 60 20300101000000 20200101000000 1 example. AAAA
@ 60 NSEC a SOA NS`,
  'example.',
);
const RDATA = Uint8Array.from(NSEC.encode({ nextName: APEX, types: [TYPE.NSEC] }));
const nsecAt = (owner: Name): ZoneRecord => ({ owner, type: TYPE.NSEC, ttl: 60, rdata: RDATA });
const below = (name: Name, labels: readonly string[]) =>
  labels.map((label) => prependLabel(label, name) as Name);

it('an order index grows and shrinks through edits of any size, and its leaves stay within their size limits', () => {
  const image = smallImage(2 ** 20);
  const writer = new ImageWriter(image);
  writer.put(zoneOfRecords(APEX, APEX_RECORDS), CONTENT);
  const used = image.bytesUsed;
  const random = randomFrom(4);
  const numbered = Array.from({ length: 300 }, (_, i) => `n${i}`);
  const odd = below(APEX, LABELS);
  const names = [...below(APEX, numbered), ...odd, ...odd.flatMap((name) => below(name, LABELS))]
    .map((name) => [random(), name] as const)
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name);
  const held = new Set<Name>([APEX]);

  function edit(edited: readonly Name[], isAdded: boolean): void {
    const records = isAdded ? edited.map(nsecAt) : [];
    const gone = isAdded ? [] : edited.map((owner) => ({ owner, type: TYPE.NSEC }));
    for (const name of edited) isAdded ? held.add(name) : held.delete(name);
    expect(writer.edit(APEX, CONTENT, { records, gone })).toEqual({ kind: 'edited' });
    writer.reclaim();
    const order = readRoot(image, findRoot(image, APEX)).denials;
    const owners: Name[] = [];
    forEachOrdered(image, order, (node) => owners.push(ownerOfNode(image, node, APEX)));
    expectSame(owners, sortNames(held));
    const sought = [...owners.slice(0, 20), ...edited.slice(0, 20)];
    const found = sought.map((owner) => findOrdered(image, order, APEX, owner));
    expectSame(
      found.map((node) => (node === 0 ? undefined : ownerOfNode(image, node, APEX))),
      sought.map((owner) => (held.has(owner) ? owner : undefined)),
    );
    expect(findImageFault(image, writer.exportFree())).toBeUndefined();
    if (held.size < 200) return;
    const leaves = blocksOf(image, order).length - 1;
    expect(held.size / leaves).toBeGreaterThan(MIN_LEAF_ITEMS);
    expect(held.size / leaves).toBeLessThan(MAX_LEAF_ITEMS);
  }

  for (const isAdded of [true, false]) {
    for (let at = 0; at < names.length; ) {
      const count = Math.ceil(2 ** (random() * 8));
      edit(names.slice(at, at + count), isAdded);
      at += count;
    }
  }
  expect(image.bytesUsed).toBe(used);
});

const SOA = '@ 3600 SOA ns.example. host.example. 7 10000 2400 604800 1800\n@ 3600 NS ns.example.\n';

function throughImage(zone: Zone): Zone | undefined {
  const image = smallImage();
  new ImageWriter(image).put(zone, CONTENT);
  return readZone(image, zone.apex);
}

describe('a zone read from an image', () => {
  // The owner of NSEC3 is not a name of the zone, and the image does not store it here.
  const ofNames = [...RANDOM_RDATA].filter(([type]) => type !== TYPE.NSEC3);
  it.each(ofNames)('has the same rdata of type %s', (type, rdata) => {
    const apex = parseName('example.');
    fc.assert(
      fc.property(fc.uniqueArray(rdata, { minLength: 1, maxLength: 5, selector: String }), (all) => {
        const owner = parseName('a.b.example.');
        const records: ZoneRecord[] = all.map((one) => ({ owner, type, ttl: 2 ** 31 - 1, rdata: one }));
        const built = buildZone(apex, [...recordsOf(SOA, 'example.'), ...records]);
        if (built.kind === 'built') expect(throughImage(built.zone)).toEqual(built.zone);
      }),
      { numRuns: scale(20, 3) },
    );
  });

  it('preserves large serials, the root as apex and the case of names in rdata', () => {
    const zone = zoneOf(
      '.',
      '. 60 SOA a. b. 4294967295 2 3 4 4294967295\n. 60 NS a.\n*.b. 60 MX 1 MX.Example.',
    );
    expect(throughImage(zone)).toEqual(zone);
    expect(throughImage(zone)?.apex).toBe(ROOT);
  });

  it('does not exist under another apex', () => {
    const image = new Image(createImage(2 ** 20, 1));
    new ImageWriter(image).put(zoneOf('example.', SOA), CONTENT);
    expect(readZone(image, parseName('a.example.'))).toBeUndefined();
    expect(readZone(image, ROOT)).toBeUndefined();
  });
});
