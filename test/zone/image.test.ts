// The image as a whole: after any changes, in an image that is too small for all of them, it holds the zones that it was
// given, and every byte of it is in use once or free once.

import { describe, expect, it } from 'vitest';
import type { Name } from '../../src/dns/name.ts';
import { type Image, ReaderSlot } from '../../src/zone/image/image.ts';
import { ImageFullError } from '../../src/zone/image/space.ts';
import { ImageWriter } from '../../src/zone/image/write-image.ts';
import { recordsOfZone } from '../../src/zone/records-of-zone.ts';
import type { RecordSet, Zone } from '../../src/zone/zone.ts';
import { pick, type Random, randomFrom, randomZone } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { readZone } from '../support/zone/read-zone.ts';
import { zoneOfRecords } from '../support/zone/sign-zone.ts';
import { blocksIn, expectSame, smallImage } from '../support/zone/zone-image.ts';

const OCTETS = 96 * 1024;

function expectWhole(image: Image, writer: ImageWriter): void {
  const blocks = blocksIn(image, writer.exportFree());
  const ends = [0, ...blocks.map(([ref, units]) => ref + units)];
  expect(blocks.map(([ref]) => ref)).toEqual(ends.slice(0, -1));
  expect((ends.at(-1) as number) * 8).toBe(image.endBytes);
}

/** A record set of the zone that it can do without, if there is one. */
function dispensable(random: Random, zone: Zone): RecordSet | undefined {
  const names = [...zone.nodes.values()].filter(({ name, sets }) => name !== zone.apex && sets.size > 0);
  return names.length === 0 ? undefined : pick(random, [...pick(random, names).sets.values()]);
}

function withoutSet(zone: Zone, gone: RecordSet): Zone {
  const rest = [...recordsOfZone(zone)].filter(
    ({ owner, type }) => owner !== gone.owner || type !== gone.type,
  );
  return zoneOfRecords(zone.apex, rest);
}

describe('an image', () => {
  it('holds what it was given after any changes, and loses no space', () => {
    for (let seed = 1; seed <= scale(100, 1); seed++) {
      const random = randomFrom(seed);
      const image = smallImage(OCTETS);
      const writer = new ImageWriter(image);
      const readers = [new ReaderSlot(image, 0), new ReaderSlot(image, 77)];
      const model = new Map<Name, Zone>();
      const apexes = Array.from({ length: 60 }, (_, i) => `zone${i}.example.`);
      let full = 0;
      for (let step = 1; step <= scale(600, 350); step++) {
        const apexText = pick(random, apexes);
        const content = { id: step, version: step, mark: step };
        const roll = random();
        try {
          if (roll < 0.55) {
            const { zone } = randomZone(random, apexText, Math.floor(random() * 25), []);
            writer.put(zone, content);
            model.set(zone.apex, zone);
          } else {
            const zone = pick(random, [...model.values()]);
            if (zone === undefined) continue;
            const set = dispensable(random, zone);
            if (roll < 0.65 || set === undefined) {
              writer.remove(zone.apex);
              model.delete(zone.apex);
            } else {
              const { owner, type, ttl, rdata } = set;
              const gone = roll < 0.8 ? [set] : [];
              const records = gone.length > 0 ? [] : rdata.map((one) => ({ owner, type, ttl, rdata: one }));
              expect(writer.edit(zone.apex, content, { records, gone })).toEqual({ kind: 'edited' });
              if (gone.length > 0) model.set(zone.apex, withoutSet(zone, set));
            }
          }
          expect(image.isFull).toBe(false);
        } catch (error) {
          if (!(error instanceof ImageFullError)) throw error;
          expect(image.isFull).toBe(true);
          full++;
        }
        if (random() < 0.1) pick(random, readers).enter();
        if (random() < 0.3) pick(random, readers).leave();
        if (random() < 0.02) writer.pauseReuse();
        if (random() < 0.2) writer.resumeReuse();
        if (step % 50 === 0) expectServed(image, writer, model);
      }
      expect(full).toBeGreaterThan(10);
      for (const reader of readers) reader.leave();
      writer.resumeReuse();
      for (const apex of model.keys()) writer.remove(apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });

  function expectServed(image: Image, writer: ImageWriter, model: ReadonlyMap<Name, Zone>): void {
    expectWhole(image, writer);
    expect(image.zones).toBe(model.size);
    let records = 0;
    for (const [apex, zone] of model) {
      expectSame(readZone(image, apex), zone);
      records += zone.records;
    }
    expect(image.records).toBe(records);
    expect([...writer.entries()].map(({ apex }) => apex).sort()).toEqual([...model.keys()].sort());
  }
});
