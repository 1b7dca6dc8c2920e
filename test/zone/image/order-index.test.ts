// The order index of a zone stays in canonical order through edits, finds every owner in it, and loses no block.

import { expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { type Name, parseName, prependLabel } from '../../../src/dns/name.ts';
import { NSEC } from '../../../src/dns/record/types/nsec.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { MAX_LEAF_ITEMS, MIN_LEAF_ITEMS } from '../../../src/zone/image/layout.ts';
import { blocksOf, findOrdered, forEachOrdered } from '../../../src/zone/image/order-index.ts';
import { ownerOfNode } from '../../../src/zone/image/read-node.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readRoot } from '../../../src/zone/image/zone-root.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { smallImage } from '../../support/zone/zone-image.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.');
const CONTENT = { id: 1, version: 1, mark: 1 };
/** Labels whose keys are equal for eight octets and more, or differ in octets that are escaped. */
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

it('an order index grows and shrinks by edits of any size, with leaves that are neither large nor small', () => {
  const image = smallImage(2 ** 20);
  const writer = new ImageWriter(image);
  writer.put(zoneOfRecords(APEX, APEX_RECORDS), CONTENT);
  const used = image.bytesUsed;
  const random = randomFrom(4);
  const numbered = Array.from({ length: 600 }, (_, i) => `n${i}`);
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
    expect(owners).toEqual(sortNames(held));
    for (const owner of [...owners.slice(0, 20), ...edited.slice(0, 20)]) {
      const found = findOrdered(image, order, APEX, owner);
      expect(found === 0 ? undefined : ownerOfNode(image, found, APEX)).toBe(
        held.has(owner) ? owner : undefined,
      );
    }
    expect(findImageFault(image, writer.exportFree())).toBeUndefined();
    if (held.size < 300) return;
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
