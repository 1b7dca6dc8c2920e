// Zones are changed, replaced and removed, and their space is reused, while other threads read them: a reader always
// sees one complete version of a zone.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { createImage, Image } from '../../src/nameserver/image/image.ts';
import { ImageFullError } from '../../src/nameserver/image/space.ts';
import { ImageWriter } from '../../src/nameserver/image/write-image.ts';
import { startThread } from '../../src/process/start-thread.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';
import type { ImageReaderInput, ImageReaderReport } from '../support/zone/image-reader.ts';
import { recordsOf, zoneOf } from '../support/zone/zone-text.ts';

const ZONES = 6;
const READERS = 2;
/** Slightly more than the zones need, so that space is reused immediately. */
const IMAGE_OCTETS = 256 * 1024;

const apexOf = (zone: number): string => `zone${zone}.example.`;
/** Records that identify the version. Their names are in different buckets of a zone of some hundred names. */
function versioned(version: number): string {
  const text = `TXT "${version} ${'x'.repeat(version % 200)}"`;
  const names = ['a', 'b.c', '*.d', 'e.f.g', 'h7'];
  return `@ 60 SOA ns host ${version} 2 3 4 5\n${names.map((name) => `${name} 60 ${text}`).join('\n')}\n`;
}

function fillers(zone: number): string {
  return Array.from({ length: zone * 60 }, (_, i) => `h${i} 60 A 10.0.0.1\n`).join('');
}

describe('readers of an image', () => {
  it('see one version of a zone during a change, and no reused space', async () => {
    const image = new Image(createImage(IMAGE_OCTETS, 99));
    const control = new SharedArrayBuffer(8);
    const words = new Int32Array(control);
    const writer = new ImageWriter(image);
    const random = randomFrom(1);
    const apexes = Array.from({ length: ZONES }, (_, zone) => parseName(apexOf(zone)));
    const put = (zone: number, version: number): void => {
      const text = `@ 60 NS ns\n${versioned(version)}${fillers(zone)}`;
      writer.put(zoneOf(apexOf(zone), text), { id: zone, version, mark: 0 });
    };
    const change = (zone: number, version: number): void => {
      const apex = parseName(apexOf(zone));
      const roll = random();
      if (roll < 0.9 && writer.rootOf(apex) !== 0) {
        const changes = { records: recordsOf(versioned(version), apexOf(zone)), gone: [] };
        expect(writer.edit(apex, { id: zone, version, mark: 0 }, changes)).toEqual({ kind: 'edited' });
      } else if (roll < 0.97) put(zone, version);
      else writer.remove(apex);
    };
    for (let zone = 0; zone < ZONES; zone++) put(zone, 1);
    const entry = new URL('../support/zone/image-reader.ts', import.meta.url);
    const threads = Array.from({ length: READERS }, (_, slot) =>
      startThread(`reader-${slot}`, entry, {
        image: image.buffer,
        control,
        slot,
        apexes,
      } satisfies ImageReaderInput),
    );
    const reports = threads.map((thread) => once(thread, 'message'));
    await until(() => Atomics.load(words, 1) > 100, 'readers read');
    let version = 1;
    let full = 0;
    while (version - full <= scale(20_000, 300) || Atomics.load(words, 1) < 2000) {
      version++;
      try {
        change(Math.floor(random() * ZONES), version);
      } catch (error) {
        if (!(error instanceof ImageFullError)) throw error; // a reader was interrupted, so the space that it may read is kept
        full++;
      }
    }
    Atomics.store(words, 0, 1);
    for (const report of reports) {
      const [{ faults, zones, versions }] = (await report) as [ImageReaderReport];
      expect(faults).toEqual([]);
      expect(zones).toBeGreaterThan(100);
      expect(versions).toBeGreaterThan(10);
    }
    writer.reclaim();
    for (const apex of apexes) writer.remove(apex);
    expect(image.bytesUsed).toBe(new Image(createImage(IMAGE_OCTETS, 1)).bytesUsed);
    await Promise.all(threads.map((thread) => thread.terminate()));
  });
});
