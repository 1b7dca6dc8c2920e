// Writes the block with the edge sets of all regions. Names with an edge mark publish these instead of their own sets.

import { ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type EdgeSets, idOfSet, rdataOfSet } from '../../zone/edge-sets.ts';
import { compileSet } from './compile-set.ts';
import { countryNumber } from './find/country-table.ts';
import type { Image } from './image.ts';
import {
  byteOf,
  EDGE_REGIONS_AT,
  EDGE_SET,
  EDGE_SET_WORDS,
  EDGE_SETS,
  RECORD_HEAD_OCTETS,
  SETS_OF_REGION,
  segmentOf,
  UNIT_BYTES,
  wordOf,
} from './layout.ts';
import type { Space } from './space.ts';

interface PlacedSet {
  readonly type: number;
  readonly rdata: readonly Uint8Array[];
}

/** Returns the ref of a new block. Throws ImageFullError. */
export function writeEdgeSets(image: Image, space: Space, { regions, countries }: EdgeSets): number {
  const placed = regions.flatMap(({ v4, v6 }): PlacedSet[] => [
    placedSet(TYPE.A, v4[0]),
    placedSet(TYPE.A, v4[1]),
    placedSet(TYPE.AAAA, v6[0]),
    placedSet(TYPE.AAAA, v6[1]),
  ]);
  const setsAt = 4 * (EDGE_REGIONS_AT + placed.length * EDGE_SET_WORDS);
  const bytes = placed.reduce((sum, { rdata }) => sum + octetsOf(rdata), setsAt);
  const ref = space.allocate(Math.ceil(bytes / UNIT_BYTES));
  const words = image.words[segmentOf(ref)] as Int32Array;
  const octets = image.bytes[segmentOf(ref)] as Uint8Array;
  const word = wordOf(ref);
  words[word + EDGE_SETS.BYTES] = bytes;
  words[word + EDGE_SETS.REGIONS] = regions.length;
  words.fill(0, word + EDGE_SETS.COUNTRIES, word + EDGE_REGIONS_AT);
  const numbers = new Map(regions.map(({ region }, i) => [region, i + 1]));
  for (const [country, region] of Object.entries(countries))
    octets[byteOf(ref) + 4 * EDGE_SETS.COUNTRIES + countryNumber(country)] = numbers.get(region) ?? 0;
  octets[byteOf(ref) + 4 * EDGE_SETS.COUNTRIES] = 0; // no country
  let at = setsAt;
  for (const [i, { type, rdata }] of placed.entries()) {
    const entry = word + EDGE_REGIONS_AT + i * EDGE_SET_WORDS;
    const length = octetsOf(rdata);
    if (length > 0) compileSet({ owner: ROOT, type, ttl: 0, rdata }, ROOT.length, octets, byteOf(ref) + at);
    words[entry + EDGE_SET.AT] = at;
    words[entry + EDGE_SET.OCTETS] = length | (rdata.length << 16);
    const id = Buffer.from(idOfSet(type, rdata));
    words[entry + EDGE_SET.ID] = id.readInt32BE(0);
    words[entry + EDGE_SET.ID + 1] = id.readInt32BE(4);
    at += length;
  }
  return ref;
}

export function unitsOfEdgeSets(image: Image, ref: number): number {
  const bytes = (image.words[segmentOf(ref)] as Int32Array)[wordOf(ref) + EDGE_SETS.BYTES] as number;
  return Math.ceil(bytes / UNIT_BYTES);
}

function placedSet(type: number, addresses: readonly string[] = []): PlacedSet {
  return { type, rdata: rdataOfSet(type, addresses) };
}

function octetsOf(rdata: readonly Uint8Array[]): number {
  return rdata.reduce((sum, one) => sum + RECORD_HEAD_OCTETS + one.length, 0);
}

/** Returns true if the lengths and offsets in the block are valid. */
export function isSoundEdgeBlock(image: Image, ref: number, endBytes: number): boolean {
  const words = image.words[segmentOf(ref)] as Int32Array;
  const octets = image.bytes[segmentOf(ref)] as Uint8Array;
  const word = wordOf(ref);
  const bytes = words[word + EDGE_SETS.BYTES] as number;
  const regions = words[word + EDGE_SETS.REGIONS] as number;
  const setsAt = 4 * (EDGE_REGIONS_AT + regions * SETS_OF_REGION * EDGE_SET_WORDS);
  if (regions < 1 || regions > 255 || bytes < setsAt || ref * UNIT_BYTES + bytes > endBytes) return false;
  for (let i = 0; i < 4 * (EDGE_REGIONS_AT - EDGE_SETS.COUNTRIES); i++)
    if ((octets[byteOf(ref) + 4 * EDGE_SETS.COUNTRIES + i] as number) > regions) return false;
  for (let set = 0; set < regions * SETS_OF_REGION; set++) {
    const entry = word + EDGE_REGIONS_AT + set * EDGE_SET_WORDS;
    const at = words[entry + EDGE_SET.AT] as number;
    const second = words[entry + EDGE_SET.OCTETS] as number;
    const length = RECORD_HEAD_OCTETS + (set % SETS_OF_REGION < 2 ? 4 : 16);
    if ((second & 0xffff) !== (second >>> 16) * length) return false;
    if (at < setsAt || at + (second & 0xffff) > bytes) return false;
  }
  return true;
}
