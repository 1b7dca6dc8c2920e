// Snapshots of signed zones that were damaged: a file whose bytes are not as they were written is refused, an image that
// contradicts itself behind checksums that fit is too, and no image that is accepted makes an answer fail. Order indexes that are
// accepted prove the same as before.

import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { Snapshot } from '../../../src/nameserver/snapshot/snapshot.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { createImage, Image, ReaderSlot } from '../../../src/zone/image/image.ts';
import { segmentOf, UNIT_BYTES, wordOf } from '../../../src/zone/image/layout.ts';
import { blocksOf, unitsOfOrderBlock } from '../../../src/zone/image/order-index.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { readRoot } from '../../../src/zone/image/zone-root.ts';
import { findRoot } from '../../../src/zone/image/zone-table.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { ourAnswer, queryFor, UNLIMITED } from '../../support/answer/queries.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount } from '../../support/database/domains.ts';
import { newSignedDomain, recordsOfZone } from '../../support/database/signed-domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { bogusAnswers, namesAround } from '../../support/dnssec/judged-node.ts';
import { askTcp } from '../../support/peers/peers.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { type NodeProcess, startNode } from '../../support/processes/nodes.ts';
import { resealBase } from '../../support/processes/resealed-snapshot.ts';
import {
  pick,
  type Random,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';
import { damageImage, randomWord } from '../../support/zone/damaged-image.ts';
import { DENIAL_STYLES, signedZone, zoneOfRecords } from '../../support/zone/sign-zone.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const IMAGE_OCTETS = 2 << 20;
const IMAGES = scale(20_000, 300);
const FILES = scale(3000, 60);
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

describe('an image of signed zones with anything changed', () => {
  it(`is refused, or answers every question (${IMAGES} images)`, () => {
    const random = randomFrom(SEED);
    const { image, writer, queries } = madeImage(random);
    const free = writer.exportFree();
    expect(findImageFault(copyOf(image), free)).toBeUndefined();
    let accepted = 0;
    for (let i = 0; i < IMAGES; i++) {
      const damaged = copyOf(image);
      const someFree = free.slice();
      for (let left = 1 + Math.floor(random() * 3); left > 0; left--) damageImage(random, damaged, someFree);
      if (findImageFault(damaged, someFree) !== undefined) continue;
      accepted++;
      answersOf(damaged, queries);
      const again = new ImageWriter(damaged, someFree);
      for (const { apex } of [...again.entries()]) again.remove(apex);
      expect(again.zones).toBe(0);
    }
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(IMAGES);
  });

  it(`in its order indexes is refused, or proves the same (${IMAGES} images)`, () => {
    const random = randomFrom(SEED + 1);
    const { image, writer, zones, queries } = madeImage(random);
    const free = writer.exportFree();
    const before = answersOf(copyOf(image), queries);
    const blocks = zones.flatMap(({ apex }) => orderBlocks(image, apex));
    let refused = 0;
    for (let i = 0; i < IMAGES; i++) {
      const damaged = copyOf(image);
      const block = pick(random, blocks);
      const words = damaged.words[segmentOf(block)] as Int32Array;
      const length = (unitsOfOrderBlock(image, block) * UNIT_BYTES) / 4;
      const at = wordOf(block) + Math.floor(random() * length);
      words[at] =
        random() < 0.5 ? (words[at] as number) ^ (1 << Math.floor(random() * 32)) : randomWord(random);
      if (findImageFault(damaged, free) !== undefined) refused++;
      else expect(answersOf(damaged, queries)).toEqual(before);
    }
    expect(refused).toBeGreaterThan(IMAGES / 3);
  });
});

function orderBlocks(image: Image, apex: Name): number[] {
  const { denials, idleDenials } = readRoot(image, findRoot(image, apex));
  return [...blocksOf(image, denials), ...blocksOf(image, idleDenials)];
}

describe('a file of signed zones', () => {
  const directory = mkdtempSync(join(tmpdir(), 'zf-damaged-'));
  const random = randomFrom(SEED + 2);
  const log = collectingLog();
  let made: Made;
  let file: string;
  let whole: Buffer;

  beforeAll(async () => {
    made = madeImage(random);
    const options = { directory, image: made.image, log, minIntervalMs: 0 };
    const snapshot = new Snapshot(options);
    snapshot.restoreBase();
    snapshot.restored();
    snapshot.writeIfDue(made.writer, {
      position: 1,
      cursor: { epoch: 'e', from: 1n, inFlight: [], recent: [] },
    });
    await snapshot.settled();
    await snapshot.stop();
    const image = readdirSync(directory).find((name) => name.endsWith('.image')) as string;
    file = join(directory, image);
    whole = readFileSync(file);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const isRestored = () => {
    const image = new Image(createImage(2 * IMAGE_OCTETS, 1));
    const base = new Snapshot({ directory, image, log, minIntervalMs: 0 }).restoreBase();
    if (base === undefined) expect(image.zones).toBe(0);
    return base !== undefined;
  };

  it('is read as it was written', () => {
    expect(isRestored()).toBe(true);
  });

  it(`is refused with one bit changed, in signatures and proofs too (${FILES} files)`, () => {
    const signatures = made.zones.flatMap(({ nodes }) =>
      [...nodes.values()].flatMap(({ sets }) =>
        [...sets.values()].flatMap(({ signatures = [] }) => signatures.map((each) => Buffer.from(each))),
      ),
    );
    const firstByte = 4096; // behind the head, which ends in what fills it up
    for (let i = 0; i < FILES; i++) {
      const damaged = Buffer.from(whole);
      const signature = pick(random, signatures);
      const at =
        i % 2 === 0
          ? whole.indexOf(signature) + Math.floor(random() * signature.length)
          : firstByte + Math.floor(random() * (whole.length - firstByte));
      damaged[at] = (damaged[at] as number) ^ (1 << Math.floor(random() * 8));
      writeFileSync(file, damaged);
      expect(isRestored(), `byte ${at}`).toBe(false);
    }
  });

  it(`is refused when it was cut (${FILES} files)`, () => {
    for (let i = 0; i < FILES; i++) {
      writeFileSync(file, whole);
      truncateSync(file, Math.floor(random() * whole.length));
      expect(isRestored()).toBe(false);
    }
  });
});

describe('a nameserver with signed domains', () => {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-damaged-'));
  const domains = ['nsec', 'nsec3'] as const;
  let database: TestDatabase;
  let node: NodeProcess | undefined;

  beforeAll(async () => {
    database = await createDatabase();
    useSecrets(database.db);
    const accountId = await newAccount(database.db, 'ann@example.org');
    for (const denial of domains)
      await newSignedDomain(database.db, accountId, `${denial}.example.`, { denial });
  });
  afterAll(async () => {
    await node?.stop();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = () => startNode('ns1', { DATABASE_URL: database.url, DATA_DIR: directory });
  const imageFile = () => {
    const place = join(directory, 'nodes', 'ns1');
    return join(place, readdirSync(place).find((name) => name.endsWith('.image')) as string);
  };

  async function expectSound({ address }: NodeProcess): Promise<void> {
    for (const denial of domains) {
      const apex = `${denial}.example.`;
      const zone = zoneOfRecords(parseName(apex), await recordsOfZone(database.db, apex));
      const ask = (query: Uint8Array) => askTcp(address.port, query);
      expect(await bogusAnswers(zone, namesAround(zone).slice(0, 4), ask)).toEqual([]);
    }
  }

  it('refuses a snapshot with a changed signature, or a contradiction, and answers what Postgres holds', async () => {
    node = await start();
    const { log } = node;
    await until(() => log().includes('snapshot written'), 'a snapshot');
    await expectSound(node);
    await node.stop();
    const whole = readFileSync(imageFile());
    const records = await recordsOfZone(database.db, 'nsec3.example.');
    const signature = Buffer.from(records.find(({ type }) => type === TYPE.RRSIG)?.rdata as Uint8Array);
    const damages: ((file: string) => void)[] = [
      (file) => {
        const bytes = readFileSync(file);
        const at = bytes.indexOf(signature) + signature.length - 5;
        bytes[at] = (bytes[at] as number) ^ 1;
        writeFileSync(file, bytes);
      },
      (file) => resealBase(file, ({ blocks }) => contradict(blocks, signature)),
    ];
    for (const damage of damages) {
      writeFileSync(imageFile(), whole);
      damage(imageFile());
      node = await start();
      expect(node.log()).toContain('a snapshot is refused');
      expect(node.log()).toContain('zones loaded');
      await expectSound(node);
      await node.stop();
    }
  });
});

/** The record of a signature covers less than its octets. */
function contradict(blocks: Buffer, signature: Buffer): void {
  const length = blocks.indexOf(signature) - 2;
  blocks.writeUInt16BE(blocks.readUInt16BE(length) - 1, length);
}
