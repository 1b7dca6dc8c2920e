// The order index of a zone stays in canonical order through edits of any size, finds every owner in it, and loses no block.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { type Name, parseName, prependLabel } from '../../../src/dns/name.ts';
import { NSEC } from '../../../src/dns/record/types/nsec.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import type { Image } from '../../../src/zone/image/image.ts';
import { MAX_LEAF_ITEMS, MIN_LEAF_ITEMS } from '../../../src/zone/image/layout.ts';
import { blocksOf, findOrdered, forEachOrdered } from '../../../src/zone/image/order-index.ts';
import { ownerOfNode } from '../../../src/zone/image/read-node.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readRoot } from '../../../src/zone/image/zone-root.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random, randomFrom } from '../../support/random/random-zones.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { smallImage } from '../../support/zone/zone-image.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.');
const CONTENT = { id: 1, version: 1, mark: 1 };
/** Their keys are the same for eight octets and longer, or differ in octets that are written as two. */
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

function nsecAt(owner: Name): ZoneRecord {
  const rdata = Uint8Array.from(NSEC.encode({ nextName: APEX, types: [TYPE.NSEC] }));
  return { owner, type: TYPE.NSEC, ttl: 60, rdata };
}

function randomName(random: Random): Name {
  let name = APEX;
  const labels = 1 + Math.floor(random() * 3);
  for (let i = 0; i < labels; i++) {
    const label = random() < 0.5 ? pick(random, LABELS) : `n${Math.floor(random() * 2000)}`;
    name = prependLabel(label, name) ?? name;
  }
  return name;
}

function ownersIn(image: Image): Name[] {
  const owners: Name[] = [];
  forEachOrdered(image, orderOf(image), (node) => owners.push(ownerOfNode(image, node, APEX)));
  return owners;
}

function orderOf(image: Image): number {
  return readRoot(image, findRoot(image, APEX)).denials;
}

describe('an order index', () => {
  it('has all owners in canonical order after edits of any size', () => {
    const random = randomFrom(4);
    const image = smallImage(16 * 2 ** 20);
    const writer = new ImageWriter(image);
    writer.put(zoneOfRecords(APEX, APEX_RECORDS), CONTENT);
    const used = image.bytesUsed;
    const owners = new Set<Name>([APEX]);
    for (let version = 2; version < 200; version++) {
      const isGrowing = version < 90;
      const count = Math.floor(2 ** (random() * 8));
      const records: ZoneRecord[] = [];
      const gone = new Map<Name, { owner: Name; type: number }>();
      for (let i = 0; i < count; i++) {
        const known = pick(random, [...owners]);
        const name = random() < (isGrowing ? 0.75 : 0.3) ? randomName(random) : known;
        if (name === APEX || gone.has(name) || records.some(({ owner }) => owner === name)) continue;
        if (owners.has(name) && random() < 0.8) {
          gone.set(name, { owner: name, type: TYPE.NSEC });
          owners.delete(name);
        } else {
          records.push(nsecAt(name));
          owners.add(name);
        }
      }
      expect(writer.edit(APEX, { ...CONTENT, version }, { records, gone: [...gone.values()] })).toEqual({
        kind: 'edited',
      });
      writer.reclaim();
      const wanted = sortNames(owners);
      if (!isDeepStrictEqual(ownersIn(image), wanted)) expect(ownersIn(image)).toEqual(wanted);
      expectFound(image, wanted);
      expect(findImageFault(image, writer.exportFree())).toBeUndefined();
    }
    const gone = [...owners].filter((owner) => owner !== APEX).map((owner) => ({ owner, type: TYPE.NSEC }));
    writer.edit(APEX, { ...CONTENT, version: 1 }, { records: [], gone });
    writer.reclaim();
    expect(image.bytesUsed).toBe(used);
  });

  it('has leaves that are neither large nor small, so that an edit copies little', () => {
    const image = smallImage(16 * 2 ** 20);
    const writer = new ImageWriter(image);
    const names = Array.from({ length: 3000 }, (_, i) => parseName(`n${i}.example.`));
    writer.put(zoneOfRecords(APEX, [...APEX_RECORDS, ...names.map(nsecAt)]), CONTENT);
    for (let i = 0; i < names.length; i += 2) {
      writer.edit(APEX, CONTENT, { records: [], gone: [{ owner: names[i] as Name, type: TYPE.NSEC }] });
    }
    const owners = ownersIn(image).length;
    const leaves = blocksOf(image, orderOf(image)).length - 1;
    expect(owners).toBe(1501);
    expect(owners / leaves).toBeGreaterThan(MIN_LEAF_ITEMS);
    expect(owners / leaves).toBeLessThan(MAX_LEAF_ITEMS);
  });

  function expectFound(image: Image, owners: readonly Name[]): void {
    const order = orderOf(image);
    for (const owner of owners.slice(0, 50)) {
      expect(ownerOfNode(image, findOrdered(image, order, APEX, owner), APEX)).toBe(owner);
      expect(findOrdered(image, order, APEX, `\x03not${owner}` as Name)).toBe(0);
    }
  }
});
