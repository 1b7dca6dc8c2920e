// A thread that repeatedly reads zones of an image while another writes them. Each zone contains its version in several
// places. The thread reports zones with different versions.

import { parentPort, workerData } from 'node:worker_threads';
import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Image, ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { readZone } from './read-zone.ts';

export interface ImageReaderInput {
  readonly image: SharedArrayBuffer;
  /** Word 0 becomes 1 to stop the thread. Word 1 counts the zones read. */
  readonly control: SharedArrayBuffer;
  readonly slot: number;
  readonly apexes: readonly Name[];
}

export interface ImageReaderReport {
  readonly zones: number;
  readonly versions: number;
  readonly faults: readonly string[];
}

const { image: buffer, control, slot, apexes } = workerData as ImageReaderInput;
const image = new Image(buffer);
const reader = new ReaderSlot(image, slot);
const words = new Int32Array(control);
const faults: string[] = [];
const versions = new Set<number>();
let zones = 0;

while (Atomics.load(words, 0) === 0 && faults.length < 5) {
  reader.enter();
  for (const apex of apexes) readOnce(apex);
  reader.leave();
}
parentPort?.postMessage({ zones, versions: versions.size, faults } satisfies ImageReaderReport);

function readOnce(apex: Name): void {
  try {
    const zone = readZone(image, apex);
    if (zone === undefined) return;
    zones++;
    Atomics.add(words, 1, 1);
    versions.add(zone.serial);
    const texts = new Set<string>();
    for (const { sets } of zone.nodes.values()) {
      for (const rdata of sets.get(TYPE.TXT)?.rdata ?? [])
        texts.add(Buffer.from(rdata).toString('latin1', 1));
    }
    const isOne = texts.size === 1 && texts.has(`${zone.serial} ${'x'.repeat(zone.serial % 200)}`);
    if (!isOne) faults.push(`version ${zone.serial} has ${JSON.stringify([...texts])}`);
  } catch (error) {
    faults.push(String((error as Error).stack));
  }
}
