// Checks that an image read from a file is valid: blocks lie inside and do not overlap, every loop over them ends,
// every name and zone is found under its hash, and all sums are correct. The TTL and rdata of records cannot be
// verified. Each block is read once.

import { isSoundEdgeBlock, unitsOfEdgeSets } from '../edge-block.ts';
import type { Image } from '../image.ts';
import {
  EDGE_REGIONS_AT,
  HEADER,
  MAX_LOG2_CAPACITY,
  MIN_LOG2_CAPACITY,
  REMOVED,
  ROOT,
  segmentOf,
  TABLE,
  TABLE_SLOT_WORDS,
  UNIT_BYTES,
  unitsForTable,
  wordOf,
} from '../layout.ts';
import { isServedRoot } from '../zone-root.ts';
import { ZoneCheck } from './check-zone.ts';
import { demand, UnsoundImage } from './demand.ts';
import { TakenSpace } from './taken-space.ts';

/**
 * Returns the reason why the image cannot be served. Returns undefined if it is valid. `free` is the result of
 * `exportFree`. `onStep` is called often.
 */
export function findImageFault(
  image: Image,
  free: Int32Array,
  onStep: () => void = () => undefined,
): string | undefined {
  try {
    checkImage(image, free, onStep);
    return undefined;
  } catch (error) {
    if (error instanceof UnsoundImage) return error.message;
    throw error;
  }
}

function checkImage(image: Image, free: Int32Array, onStep: () => void): void {
  const space = new TakenSpace(image, onStep);
  const zones = new ZoneCheck(image, space, onStep);
  demand(free.length % 2 === 0, 'its free space is truncated');
  for (let i = 0; i < free.length; i += 2) space.take(free[i] as number, free[i + 1] as number);
  checkTable(image, space, zones, onStep);
  checkEdgeSets(image, space);
  space.demandWhole();
}

function checkTable(image: Image, space: TakenSpace, zones: ZoneCheck, onStep: () => void): void {
  const { header } = image;
  const table = header[HEADER.ZONE_TABLE] as number;
  const words = space.enter(table, TABLE.SLOTS);
  const log2 = words[wordOf(table) + TABLE.LOG2_CAPACITY] as number;
  demand(log2 >= MIN_LOG2_CAPACITY && log2 <= MAX_LOG2_CAPACITY, 'its zone table has the wrong size');
  space.takeUnits(table, unitsForTable(log2));
  const slots = wordOf(table) + TABLE.SLOTS;
  const mask = (1 << log2) - 1;
  let taken = 0;
  let served = 0;
  let records = 0;
  for (let slot = 0; slot <= mask; slot++) {
    const root = words[slots + slot * TABLE_SLOT_WORDS + 1] as number;
    if (root === 0) continue;
    taken++;
    if (root === REMOVED) continue;
    const hash = zones.check(root);
    demand(words[slots + slot * TABLE_SLOT_WORDS] === hash, 'a zone has the wrong hash');
    if (isServedRoot(image, root)) served++;
    records += (image.words[segmentOf(root)] as Int32Array)[wordOf(root) + ROOT.RECORDS] as number;
    onStep();
  }
  demand(taken === words[wordOf(table) + TABLE.TAKEN] && taken <= mask, 'its zone table is not valid');
  demand(served === header[HEADER.ZONES] && records === header[HEADER.RECORDS], 'its sums are wrong');
  checkSearches(words, slots, log2);
}

/** Checks that every zone is found from its hash: no empty slot, which ends the search, precedes it. */
function checkSearches(words: Int32Array, slots: number, log2: number): void {
  const mask = (1 << log2) - 1;
  const rootIn = (slot: number) => words[slots + (slot & mask) * TABLE_SLOT_WORDS + 1] as number;
  let empty = 0;
  while (rootIn(empty) !== 0) empty++; // the table always has a free entry
  let behindEmpty = 1;
  for (let i = 1; i <= mask; i++) {
    const slot = (empty + i) & mask;
    const root = rootIn(slot);
    if (root === 0) behindEmpty = i + 1;
    if (root === 0 || root === REMOVED) continue;
    const home = (words[slots + slot * TABLE_SLOT_WORDS] as number) >>> (32 - log2);
    demand(((slot - home) & mask) <= i - behindEmpty, 'a zone is not found from its hash');
  }
}

function checkEdgeSets(image: Image, space: TakenSpace): void {
  const ref = image.header[HEADER.EDGE_SETS] as number;
  if (ref === 0) return;
  space.enter(ref, EDGE_REGIONS_AT);
  const units = unitsOfEdgeSets(image, ref);
  demand(units > 0, 'the edge sets of its regions have the wrong size');
  space.takeUnits(ref, units);
  const isSound = isSoundEdgeBlock(image, ref, space.end * UNIT_BYTES);
  demand(isSound, 'the edge sets of its regions are not valid');
}
