// Images of signed zones that were damaged: one that contradicts itself is refused, and no image that is accepted makes an answer
// fail. Order indexes that are accepted prove the same as before. test/nameserver/snapshot covers files, test/flows/restart nodes.

import { expect, it } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { createImage, Image, ReaderSlot } from '../../../src/zone/image/image.ts';
import { segmentOf, UNIT_BYTES, wordOf } from '../../../src/zone/image/layout.ts';
import { blocksOf, unitsOfOrderBlock } from '../../../src/zone/image/order-index.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readRoot } from '../../../src/zone/image/zone-root.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { ourAnswer, queryFor, UNLIMITED } from '../../support/answer/queries.ts';
import {
  pick,
  type Random,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { damageImage, randomWord } from '../../support/zone/damaged-image.ts';
import { DENIAL_STYLES, signedZone } from '../../support/zone/sign-zone.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const IMAGE_OCTETS = 2 << 20;
const IMAGES = scale(20_000, 300);
const APEXES = DENIAL_STYLES.map((_, i) => `z${i}.example.`);

interface Made {
  readonly image: Image;
  readonly writer: ImageWriter;
  readonly zones: readonly Zone[];
  /** With DO, names that are not there among them. */
  readonly queries: readonly Uint8Array[];
}

function madeImage(random: Random): Made {
  const image = new Image(createImage(IMAGE_OCTETS, Math.floor(random() * 2 ** 31)));
  const writer = new ImageWriter(image);
  let zones: Zone[] = [];
  for (let round = 0; round < 2; round++) {
    zones = DENIAL_STYLES.map((style, i) =>
      signedZone(randomZone(random, APEXES[i] as string, 40, APEXES).zone, style),
    );
    for (const [id, zone] of zones.entries()) writer.put(zone, { id: id + 1, version: round + 1, mark: 0 });
  }
  const queries = Array.from({ length: 200 }, () => {
    const zone = pick(random, zones);
    const { name, type } = randomQuestion(random, zone, [...zone.nodes.keys()]);
    return queryFor({ name, type: pick(random, [type, TYPE.DS]), udpPayloadSize: 1232, dnssecOk: true });
  });
  return { image, writer, zones, queries };
}

function copyOf(image: Image): Image {
  const buffer = new SharedArrayBuffer(image.buffer.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(image.buffer, 0, image.endBytes));
  return new Image(buffer);
}

/** Throws what an answer meets. */
function answersOf(image: Image, queries: readonly Uint8Array[]): string[] {
  const failures: unknown[] = [];
  const counters = new QueryCounters();
  const answerer = new Answerer(image, UNLIMITED, counters, (error) => failures.push(error));
  const reader = new ReaderSlot(image, 0);
  const node = { image, settings: UNLIMITED, answerer, reader, counters, failures };
  return queries.map((query) => Buffer.from(ourAnswer(node, query, 'tcp')).toString('hex'));
}

it(`a damaged image of signed zones is refused, or answers every question (${IMAGES} images)`, () => {
  const random = randomFrom(SEED);
  const { image, writer, zones, queries } = madeImage(random);
  const free = writer.exportFree();
  const before = answersOf(copyOf(image), queries);
  const blocks = zones.flatMap(({ apex }) => orderBlocks(image, apex));
  const refused = { anywhere: 0, inOrder: 0 };
  for (let i = 0; i < IMAGES; i++) {
    const anywhere = copyOf(image);
    const someFree = free.slice();
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) damageImage(random, anywhere, someFree);
    if (findImageFault(anywhere, someFree) !== undefined) refused.anywhere++;
    else {
      answersOf(anywhere, queries);
      const again = new ImageWriter(anywhere, someFree);
      for (const { apex } of [...again.entries()]) again.remove(apex);
      expect(again.zones).toBe(0);
    }
    // An order index that is accepted proves the same as before.
    const inOrder = copyOf(image);
    const block = pick(random, blocks);
    const words = inOrder.words[segmentOf(block)] as Int32Array;
    const length = (unitsOfOrderBlock(image, block) * UNIT_BYTES) / 4;
    const at = wordOf(block) + Math.floor(random() * length);
    const flipped = (words[at] as number) ^ (1 << Math.floor(random() * 32));
    words[at] = random() < 0.5 ? flipped : randomWord(random);
    if (findImageFault(inOrder, free) !== undefined) refused.inOrder++;
    else expect(answersOf(inOrder, queries)).toEqual(before);
  }
  expect(refused.anywhere).toBeGreaterThan(0);
  expect(refused.anywhere).toBeLessThan(IMAGES);
  expect(refused.inOrder).toBeGreaterThan(IMAGES / 3);
});

function orderBlocks(image: Image, apex: Name): number[] {
  const { denials, idleDenials } = readRoot(image, findRoot(image, apex));
  return [...blocksOf(image, denials), ...blocksOf(image, idleDenials)];
}
