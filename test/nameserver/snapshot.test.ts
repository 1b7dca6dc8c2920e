// A snapshot gives back what an image served: all of it, or nothing.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { Snapshot } from '../../src/nameserver/snapshot.ts';
import type { FeedPlace, SnapshotEntry } from '../../src/nameserver/snapshot-entry.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { createImage, Image } from '../../src/zone/image/image.ts';
import { ImageWriter } from '../../src/zone/image/write-image.ts';
import { collectingLog, smallZone } from '../support/follow.ts';
import { zoneInImage } from '../support/zone-image.ts';

const IMAGE_OCTETS = 16 << 20;

let directory: string;
let log: ReturnType<typeof collectingLog>;
let open: Snapshot[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-snapshot-'));
  log = collectingLog();
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((snapshot) => snapshot.stop()));
  rmSync(directory, { recursive: true, force: true });
});

function placeAt(position: number): FeedPlace {
  return { position, cursor: { epoch: 'e', from: BigInt(position), inFlight: [], recent: [] } };
}

/** An image with its snapshot; each start has another seed for its hashes. */
class Node {
  readonly image: Image;
  readonly snapshot: Snapshot;
  readonly writer: ImageWriter;
  readonly isRestored: boolean;
  readonly place: FeedPlace | undefined;

  constructor(octets = IMAGE_OCTETS) {
    this.image = new Image(createImage(octets, Math.floor(Math.random() * 2 ** 31)));
    this.snapshot = new Snapshot({ directory, image: this.image, log, minIntervalMs: 0 });
    open.push(this.snapshot);
    const base = this.snapshot.restoreBase();
    this.isRestored = base !== undefined;
    this.writer = new ImageWriter(this.image, base?.free);
    this.place = base === undefined ? undefined : this.snapshot.restoreLog(this.writer, base.place);
  }

  apply(entry: SnapshotEntry): void {
    if (entry.kind === 'zone') {
      const built = buildZone(entry.apex, entry.records);
      if (built.kind === 'built') this.writer.put(built.zone, entry.content);
    }
    if (entry.kind === 'sets') expect(this.writer.edit(entry.apex, entry.content, entry).kind).toBe('edited');
    if (entry.kind === 'removal') this.writer.remove(entry.apex);
    this.snapshot.append(entry);
  }

  put(name: string, serial: number): void {
    const { apex, records } = smallZone(
      name,
      serial,
      `x${serial}.y A 192.0.2.7\n*.w TXT "${'t'.repeat(serial % 200)}"`,
    );
    this.apply({ kind: 'zone', apex, content: { id: serial, version: serial, mark: serial }, records });
  }

  edit(name: string, serial: number): void {
    const { apex, records } = smallZone(name, serial, 'new TXT "n"');
    const changed = records.filter(({ type }) => type !== 2);
    const gone = [{ owner: parseName(`*.w.${name}`), type: 16 }];
    this.apply({
      kind: 'sets',
      apex,
      content: { id: serial, version: serial, mark: 0 },
      records: changed,
      gone,
    });
  }

  async write(position: number): Promise<void> {
    this.snapshot.writeIfDue(this.writer, placeAt(position));
    await this.snapshot.settled();
  }

  served(): Map<Name, unknown> {
    const zones = [...this.writer.entries()].map(
      ({ apex }) => [apex, zoneInImage(this.image, apex)] as const,
    );
    return new Map(zones.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** But for the hashes, whose seed a start chooses by itself when it reads no snapshot. */
function expectSame(again: Node, before: Node): void {
  expect(again.served()).toEqual(before.served());
  expect([again.writer.zones, again.writer.records]).toEqual([before.writer.zones, before.writer.records]);
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `z${i}.example.`);

describe('a node that starts again', () => {
  test('serves what the snapshot holds, in whatever room there is, and goes on with it', async () => {
    const first = new Node();
    for (const [i, name] of names(700).entries()) first.put(name, i + 1);
    for (const name of names(300)) first.apply({ kind: 'removal', apex: parseName(name) });
    await first.write(5);
    const second = new Node(IMAGE_OCTETS * 2);
    expect(second.place).toEqual(placeAt(5));
    expectSame(second, first);
    const usedBefore = second.writer.octetsUsed;
    for (const name of names(700)) second.put(name, 900);
    for (const name of names(700)) second.apply({ kind: 'removal', apex: parseName(name) });
    expect(second.writer.zones).toBe(0);
    expect(second.writer.octetsUsed).toBeLessThan(usedBefore);
  });

  test('has what was applied after the base was written, and the place in the feed up to there', async () => {
    const first = new Node();
    for (const [i, name] of names(20).entries()) first.put(name, i + 1);
    await first.write(5);
    first.put('z1.example.', 50);
    first.edit('z2.example.', 51);
    first.apply({ kind: 'removal', apex: parseName('z3.example.') });
    first.put('new.example.', 52);
    first.snapshot.reach(placeAt(6));
    const second = new Node();
    expect(second.place).toEqual(placeAt(6));
    expectSame(second, first);
    second.put('again.example.', 60);
    second.snapshot.reach(placeAt(7));
    const third = new Node();
    expect(third.place).toEqual(placeAt(7));
    expectSame(third, second);
  });

  test('has what was applied while the base was written, whenever it was cut off', async () => {
    const first = new Node();
    for (const [i, name] of names(500).entries()) first.put(name, i + 1);
    await first.write(5);
    first.put('z1.example.', 600);
    const writing = first.write(5);
    first.edit('z2.example.', 601);
    first.apply({ kind: 'removal', apex: parseName('z3.example.') });
    for (const name of names(100)) first.put(`n.${name}`, 700);
    first.snapshot.reach(placeAt(6));
    // Cut off here: the generation before has everything.
    const meanwhile = new Node();
    expect(meanwhile.place).toEqual(placeAt(6));
    expectSame(meanwhile, first);
    await writing;
    const second = new Node();
    expect(second.place).toEqual(placeAt(6));
    expectSame(second, first);
  });

  test('of a log that was cut anywhere it has a part, and no place that was not reached', async () => {
    const first = new Node();
    for (const [i, name] of names(5).entries()) first.put(name, i + 1);
    await first.write(5);
    for (let i = 0; i < 10; i++) {
      first.put(`z${i}.example.`, 100 + i);
      first.snapshot.reach(placeAt(100 + i));
    }
    const file = join(directory, 'zones.1.log');
    const whole = readFileSync(file);
    for (let octets = 0; octets < whole.length; octets += 97) {
      writeFileSync(file, whole);
      truncateSync(file, octets);
      const again = new Node();
      const position = again.place?.position ?? 0;
      expect(position).toBeGreaterThanOrEqual(5);
      for (let i = 0; i <= position - 100; i++) {
        expect(again.writer.contentOf(parseName(`z${i}.example.`))?.version).toBe(100 + i);
      }
    }
  });

  test('serves the zones of another history too, but knows no place in the feed', async () => {
    const first = new Node();
    first.put('z1.example.', 1);
    await first.write(5);
    first.snapshot.abandon();
    first.put('z2.example.', 2);
    const second = new Node();
    expect([second.isRestored, second.place, second.writer.zones]).toEqual([true, undefined, 1]);
    // When everything has been loaded there is a new base.
    await first.write(9);
    const third = new Node();
    expect(third.place).toEqual(placeAt(9));
    expectSame(third, first);
  });
});

describe('a snapshot', () => {
  test('that is damaged is refused with a line in the log, and the node starts empty', async () => {
    const first = new Node();
    for (const [i, name] of names(50).entries()) first.put(name, i + 1);
    await first.write(5);
    const file = join(directory, 'zones.1.image');
    const damaged = readFileSync(file);
    damaged[9000] = (damaged[9000] as number) ^ 4;
    writeFileSync(file, damaged);
    const second = new Node();
    expect([second.isRestored, second.writer.zones]).toEqual([false, 0]);
    expect(log.lines.filter(({ message }) => message === 'a snapshot is refused')).toHaveLength(1);
    // It is replaced by the next one.
    second.put('z1.example.', 1);
    await second.write(6);
    expect(readdirSync(directory).sort()).toEqual(['zones.2.image', 'zones.2.log']);
    expectSame(new Node(), second);
  });

  test('for which there is too little room is refused', async () => {
    const first = new Node();
    for (const [i, name] of names(900).entries()) first.put(name, i + 1);
    await first.write(5);
    expect(new Node(256 << 10).isRestored).toBe(false);
    expect(log.lines.at(-1)?.fields).toMatchObject({ why: expect.stringContaining('IMAGE_BYTES') });
  });

  test('is not written again before its log has grown', async () => {
    const first = new Node();
    first.put('z1.example.', 1);
    await first.write(5);
    const written = statSync(join(directory, 'zones.1.image')).mtimeMs;
    first.put('z1.example.', 2);
    await first.write(6);
    expect(statSync(join(directory, 'zones.1.image')).mtimeMs).toBe(written);
    const { apex, records } = smallZone('large.example.', 3);
    const rdata = new Uint8Array(60_000);
    const large = Array.from({ length: 8 }, (_, i) => ({
      owner: parseName(`r${i}.large.example.`),
      type: 65280,
      ttl: 1,
      rdata,
    }));
    for (let i = 0; i < 10; i++) {
      const content = { id: 3, version: 3 + i, mark: 0 };
      first.apply({ kind: 'zone', apex, content, records: [...records, ...large] });
    }
    await first.write(7);
    expect(existsSync(join(directory, 'zones.1.image'))).toBe(false);
    expectSame(new Node(), first);
  });

  test('that cannot be written is told, and the node goes on', async () => {
    const first = new Node();
    writeFileSync(join(directory, 'zones.1.log'), '');
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file where the directory should be');
    first.put('z1.example.', 1);
    await first.write(5);
    expect(log.lines.at(-1)?.message).toBe('no snapshot can be written');
    first.put('z2.example.', 2);
    expect(first.writer.zones).toBe(2);
  });
});
