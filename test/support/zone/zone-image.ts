// Creates zones in an image for tests, and inspects all of their content.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { type Name, printName } from '../../../src/dns/name.ts';
import { createImage, Image } from '../../../src/nameserver/image/image.ts';
import {
  HEADER,
  HEADER_BYTES,
  segmentOf,
  TABLE,
  UNIT_BYTES,
  unitsForTable,
  wordOf,
} from '../../../src/nameserver/image/layout.ts';
import { forEachBucket, forEachName, unitsOfBucket } from '../../../src/nameserver/image/name-index.ts';
import { blocksOf, forEachOrdered, unitsOfOrderBlock } from '../../../src/nameserver/image/order-index.ts';
import { readNode } from '../../../src/nameserver/image/read-node.ts';
import { classFor, unitsOfClass } from '../../../src/nameserver/image/size-class.ts';
import { shapeOfNode, unitsOfNode } from '../../../src/nameserver/image/write-node.ts';
import { log2BucketsOf, readRoot, unitsOfRoot } from '../../../src/nameserver/image/zone-root.ts';
import { findRoot, rootsOf } from '../../../src/nameserver/image/zone-table.ts';

export function smallImage(octets: number = 2 ** 20): Image {
  return new Image(createImage(octets, 0x5eed));
}

/** Expects equal values. Comparing them first avoids the slow `toEqual`, which only explains a difference. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** Returns everything that the image stores about a zone, without refs: equal for equal zones with any history. */
export function zoneInImage(image: Image, apex: Name): unknown {
  const root = findRoot(image, apex);
  if (root === 0) return undefined;
  const { apexNode, denials, idleDenials, ...content } = readRoot(image, root);
  const nodes: [string, unknown][] = [];
  const places = new Set<number>();
  forEachName(image, root, (hash, ref) => {
    const node = readNode(image, ref, apex);
    nodes.push([
      printName(node.name),
      { ...node, hash, shape: shapeOfNode(image, ref), isApex: ref === apexNode },
    ]);
    places.add(ref);
  });
  if (places.size !== nodes.length) throw new Error('two names share a node');
  nodes.sort(([a], [b]) => (a < b ? -1 : 1));
  const order = [denials, idleDenials].map((index) => orderedNodes(image, apex, index));
  return { content, nodes: new Map(nodes), order };
}

function orderedNodes(image: Image, apex: Name, order: number): unknown[] {
  const nodes: unknown[] = [];
  forEachOrdered(image, order, (ref) => {
    nodes.push({ ...readNode(image, ref, apex), shape: shapeOfNode(image, ref) });
  });
  return nodes;
}

export function log2BucketsIn(image: Image, apex: Name): number {
  return log2BucketsOf(image, findRoot(image, apex));
}

/** Returns start and units of all used and free blocks in the image, sorted. */
export function blocksIn(image: Image, free: Int32Array): [ref: number, units: number][] {
  const blocks: [number, number][] = [[0, HEADER_BYTES / UNIT_BYTES]];
  const table = image.header[HEADER.ZONE_TABLE] as number;
  const slots = image.words[segmentOf(table)]?.[wordOf(table) + TABLE.LOG2_CAPACITY] as number;
  blocks.push([table, unitsForTable(slots)]);
  for (const root of rootsOf(image)) {
    blocks.push([root, unitsOfRoot(image, root)]);
    forEachBucket(image, root, (ref) => {
      blocks.push([ref, unitsOfBucket(image, ref)]);
    });
    forEachName(image, root, (_, ref) => {
      blocks.push([ref, unitsOfNode(image, ref)]);
    });
    const { denials, idleDenials, isHashed } = readRoot(image, root);
    for (const order of [denials, idleDenials]) {
      for (const ref of blocksOf(image, order)) blocks.push([ref, unitsOfOrderBlock(image, ref)]);
    }
    for (const order of isHashed ? [denials, idleDenials] : [idleDenials]) {
      forEachOrdered(image, order, (ref) => {
        blocks.push([ref, unitsOfNode(image, ref)]);
      });
    }
  }
  const sized = blocks.map(([ref, units]): [number, number] => [ref, ref === 0 ? units : held(units)]);
  for (let i = 0; i < free.length; i += 2) sized.push([free[i] as number, free[i + 1] as number]);
  return sized.sort(([a], [b]) => a - b);
}

function held(units: number): number {
  return unitsOfClass(classFor(units));
}
