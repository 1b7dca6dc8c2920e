// A snapshot restores everything that an image served, or nothing.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { findImageFault } from '../../../src/nameserver/image/check/check-image.ts';
import { createImage, Image } from '../../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import type { ReadFile } from '../../../src/nameserver/snapshot/plain-file.ts';
import { noteRestoring, noteStuck } from '../../../src/nameserver/snapshot/restore-note.ts';
import { Snapshot } from '../../../src/nameserver/snapshot/snapshot.ts';
import type { FeedPlace, SnapshotEntry } from '../../../src/nameserver/snapshot/snapshot-entry.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { collectingLog, smallZone } from '../../support/processes/follow.ts';
import { resealBase, word } from '../../support/processes/reseal-base.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { expectSame as expectServed, zoneInImage } from '../../support/zone/zone-image.ts';

const LOG_HEAD_BYTES = 32;

/** Changes the entries of the log, and restores its framing. */
function resealLog(file: string, change: (entries: Buffer[]) => Buffer[]): void {
  const bytes = readFileSync(file);
  const entries: Buffer[] = [];
  for (let at = LOG_HEAD_BYTES; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    entries.push(Buffer.from(bytes.subarray(at + 8, at + 8 + length)));
    at += 8 + length;
  }
  const framed = change(entries).flatMap((entry) => [word(entry.length), word(crc32(entry)), entry]);
  writeFileSync(file, Buffer.concat([bytes.subarray(0, LOG_HEAD_BYTES), ...framed]));
}

/** Returns the paths of the open files of this process. */
function openFiles(): (string | undefined)[] {
  return readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return undefined; // it was closed meanwhile
    }
  });
}

const IMAGE_BYTES = 2 << 20;

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

/** Cache of zones: parsing them takes most of the time. */
const parsed = new Map<string, ReturnType<typeof smallZone>>();

function placeAt(position: number): FeedPlace {
  return { position, cursor: { epoch: 'e', from: BigInt(position), inFlight: [], recent: [] } };
}

/** An image with its snapshot. Each start has another hash seed. */
class Node {
  readonly image: Image;
  readonly snapshot: Snapshot;
  readonly writer: ImageWriter;
  readonly isRestored: boolean;
  readonly place: FeedPlace | undefined;

  constructor(
    bytes = IMAGE_BYTES,
    read?: ReadFile,
    isForeign = false,
    limits: { maxLogEntries?: number } = {},
  ) {
    this.image = new Image(createImage(bytes, Math.floor(Math.random() * 2 ** 31)));
    const options = {
      directory,
      image: this.image,
      log,
      isForeign,
      minIntervalMs: 0,
      ...limits,
      ...(read && { read }),
    };
    this.snapshot = new Snapshot(options);
    open.push(this.snapshot);
    const base = this.snapshot.restoreBase();
    this.isRestored = base !== undefined;
    this.writer = new ImageWriter(this.image, base?.free);
    this.place = base === undefined ? undefined : this.snapshot.restoreLog(this.writer, base.place);
    this.snapshot.restored(); // tests of the check call it themselves
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
    const more = `x${serial}.y A 192.0.2.7\n*.w TXT "${'t'.repeat(serial % 200)}"`;
    const key = `${name} ${serial}`;
    const { apex, records } = parsed.get(key) ?? smallZone(name, serial, more);
    parsed.set(key, { apex, records });
    this.apply({ kind: 'zone', apex, content: { id: serial, version: serial, mark: serial }, records });
  }

  putAll(count: number): void {
    for (const [i, name] of names(count).entries()) this.put(name, i + 1);
  }

  edit(name: string, serial: number): void {
    const { apex, records: all } = smallZone(name, serial, 'new TXT "n"');
    const records = all.filter(({ type }) => type !== 2);
    const gone = [{ owner: parseName(`*.w.${name}`), type: 16 }];
    this.apply({ kind: 'sets', apex, content: { id: serial, version: serial, mark: 0 }, records, gone });
  }

  remove(...removed: readonly string[]): void {
    for (const name of removed) this.apply({ kind: 'removal', apex: parseName(name) });
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

/** Ignores the hashes: their seeds differ if no snapshot was read. */
function expectSame(again: Node, before: Node): void {
  expectServed(again.served(), before.served());
  expect([again.writer.zones, again.writer.records]).toEqual([before.writer.zones, before.writer.records]);
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `z${i}.example.`);

/** Returns a node with zones whose snapshot has been written. */
async function written(count: number): Promise<Node> {
  const node = new Node();
  node.putAll(count);
  await node.write(5);
  return node;
}

describe('a restarted node', () => {
  test('serves the snapshot in an image of another size, and continues with it', async () => {
    const first = new Node();
    first.putAll(120);
    first.remove(...names(40));
    await first.write(5);
    const second = new Node(IMAGE_BYTES * 2);
    expect(second.place).toEqual(placeAt(5));
    expectSame(second, first);
    const usedBefore = second.writer.bytesUsed;
    for (const name of names(120)) second.put(name, 900);
    second.remove(...names(120));
    expect(second.writer.zones).toBe(0);
    expect(second.writer.bytesUsed).toBeLessThan(usedBefore);
  });

  test('has the changes applied after the base was written, and their position in the feed', async () => {
    const first = await written(20);
    first.put('z1.example.', 50);
    first.edit('z2.example.', 51);
    first.remove('z3.example.');
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

  test('has the changes applied while the base was written, wherever writing was interrupted', async () => {
    const first = await written(100);
    first.put('z1.example.', 600);
    const writing = first.write(5);
    first.edit('z2.example.', 601);
    first.remove('z3.example.');
    for (const name of names(50)) first.put(`n.${name}`, 700);
    first.snapshot.reach(placeAt(6));
    // Interrupted here, the previous generation has everything.
    const meanwhile = new Node();
    expect(meanwhile.place).toEqual(placeAt(6));
    expectSame(meanwhile, first);
    await writing;
    const second = new Node();
    expect(second.place).toEqual(placeAt(6));
    expectSame(second, first);
  });

  test('also serves the zones of another history, but knows no position in the feed', async () => {
    const first = new Node();
    first.put('z1.example.', 1);
    await first.write(5);
    first.snapshot.abandon();
    first.put('z2.example.', 2);
    const second = new Node();
    expect([second.isRestored, second.place, second.writer.zones]).toEqual([true, undefined, 1]);
    // After everything has been loaded, there is a new base.
    await first.write(9);
    const third = new Node();
    expect(third.place).toEqual(placeAt(9));
    expectSame(third, first);
  });
});

test('a node that is killed between any two changes restarts with a valid image of its last position', async () => {
  const random = randomFrom(41);
  const source = directory;
  const first = await written(20);
  let reached = first.served();
  for (let point = 0; point < 8; point++) {
    for (let change = 0; change < 5; change++) {
      const name = `z${Math.floor(random() * 30)}.example.`;
      const serial = 100 * (point + 1) + change;
      const isServed = first.writer.contentOf(parseName(name)) !== undefined;
      if (isServed && Math.floor(random() * 3) === 0) first.remove(name);
      else first.put(name, serial);
    }
    const isReached = Math.floor(random() * 2) === 0;
    if (isReached) first.snapshot.reach(placeAt(10 + point));
    if (isReached) reached = first.served();
    directory = mkdtempSync(join(tmpdir(), 'zf-killed-'));
    cpSync(source, directory, { recursive: true });
    const log = readdirSync(directory).find((file) => file.endsWith('.log')) as string;
    appendFileSync(join(directory, log), readFileSync(BASE()).subarray(0, Math.floor(random() * 60))); // a write that was cut off
    const again = new Node();
    expectServed(again.served(), reached);
    expect(findImageFault(again.image, again.writer.exportFree())).toBeUndefined();
    rmSync(directory, { recursive: true });
    directory = source;
  }
});

describe('a snapshot', () => {
  test('that is damaged is refused with a line in the log, and the node starts empty', async () => {
    await written(50);
    const file = join(directory, 'zones.1.image');
    const damaged = readFileSync(file);
    damaged[9000] = (damaged[9000] as number) ^ 4;
    writeFileSync(file, damaged);
    const second = new Node();
    expect([second.isRestored, second.writer.zones]).toEqual([false, 0]);
    expect(log.lines.filter(({ message }) => message === 'a snapshot is not valid')).toHaveLength(1);
    // It is replaced by the next one.
    second.put('z1.example.', 1);
    await second.write(6);
    expect(readdirSync(directory).sort()).toEqual(['zones.2.image', 'zones.2.log']);
    expectSame(new Node(), second);
  });

  test('is not rewritten before its log has grown', async () => {
    const first = new Node();
    first.put('z1.example.', 1);
    await first.write(5);
    const written = statSync(join(directory, 'zones.1.image')).mtimeMs;
    first.put('z1.example.', 2);
    await first.write(6);
    expect(statSync(join(directory, 'zones.1.image')).mtimeMs).toBe(written);
    const { apex, records } = smallZone('large.example.', 3);
    const rdata = new Uint8Array(60_000);
    const large = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => parseName(`r${i}.large.example.`));
    const all = [...records, ...large.map((owner) => ({ owner, type: 65280, ttl: 1, rdata }))];
    for (let i = 0; i < 10; i++)
      first.apply({ kind: 'zone', apex, content: { id: 3, version: 3 + i, mark: 0 }, records: all });
    await first.write(7);
    expect(existsSync(join(directory, 'zones.1.image'))).toBe(false);
    expectSame(new Node(), first);
  });

  test('is rewritten when its log has many entries, also those of earlier processes', async () => {
    const node = (): Node => new Node(IMAGE_BYTES, undefined, false, { maxLogEntries: 7 });
    const first = node();
    first.putAll(40);
    await first.write(5);
    for (const [position, wanted] of [1, 1, 2].entries()) {
      const again = node(); // each appends two changes and a position
      again.put('z1.example.', 50 + position);
      again.put('z2.example.', 50 + position);
      again.snapshot.reach(placeAt(6 + position));
      await again.write(6 + position);
      expect(readdirSync(directory)).toContain(`zones.${wanted}.image`);
      await again.snapshot.stop();
    }
  });

  test('that does not fit on the disk is counted and closed, and the node continues', async () => {
    const first = new Node();
    symlinkSync('/dev/full', join(directory, 'zones.1.log'));
    first.put('z1.example.', 1);
    await first.write(5);
    expect(first.snapshot.failures).toEqual({ disk_full: 1, other: 0 });
    expect(openFiles()).not.toContain('/dev/full');
    rmSync(join(directory, 'zones.1.log'));
    await first.write(6);
    expect(first.snapshot.failures).toEqual({ disk_full: 1, other: 0 });
    expectSame(new Node(), first);
  });

  test('whose log cannot be written is counted', async () => {
    const first = new Node();
    first.put('z1.example.', 1);
    await first.write(5);
    const again = new Node();
    rmSync(join(directory, 'zones.1.log'));
    again.put('z2.example.', 2);
    again.snapshot.reach(placeAt(6));
    expect(again.snapshot.failures).toEqual({ disk_full: 0, other: 1 });
  });

  test('that cannot be written is logged, and the node continues', async () => {
    const first = new Node();
    writeFileSync(join(directory, 'zones.1.log'), '');
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file where the directory should be');
    first.put('z1.example.', 1);
    await first.write(5);
    expect(log.lines.at(-1)?.message).toBe('the snapshot cannot be written');
    expect(first.snapshot.failures).toEqual({ disk_full: 0, other: 1 });
    first.put('z2.example.', 2);
    expect(first.writer.zones).toBe(2);
  });
});

/** Checks that an unreadable snapshot left an empty, working image whose own snapshot can be read. */
async function expectFresh(again: Node): Promise<void> {
  const { isRestored, place, writer, image } = again;
  expect([isRestored, place, writer.zones, image.zones]).toEqual([false, undefined, 0, 0]);
  expect(image.endBytes).toBe(new Image(createImage(64 << 10, 1)).endBytes);
  const blocks = Buffer.from(image.buffer, image.endBytes);
  expect(blocks.equals(Buffer.alloc(blocks.length))).toBe(true);
  await expectUsable(again);
}

async function expectUsable(again: Node): Promise<void> {
  for (const { apex } of [...again.writer.entries()]) again.apply({ kind: 'removal', apex });
  again.putAll(50);
  expect(again.writer.zones).toBe(50);
  await again.write(77);
  expectSame(new Node(), again);
}

async function writeSnapshot(): Promise<Node> {
  const first = await written(40);
  for (const name of names(9)) {
    first.put(`log.${name}`, 60);
    first.snapshot.reach(placeAt(6));
  }
  first.edit('z1.example.', 61);
  first.remove('z2.example.');
  first.snapshot.reach(placeAt(7));
  return first;
}

const BASE = () => join(directory, 'zones.1.image');
const LOG = () => join(directory, 'zones.1.log');

describe('a snapshot that cannot be read leaves the image empty:', () => {
  test('an error of the disk, during any read', async () => {
    await writeSnapshot();
    let reads = 0;
    new Node(IMAGE_BYTES, (...parameters) => {
      reads++;
      return readSync(...parameters);
    });
    for (let failing = 1; failing <= reads; failing++) {
      let left = failing;
      const broken: ReadFile = (...parameters) => {
        if (--left > 0) return readSync(...parameters);
        throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
      };
      const again = new Node(IMAGE_BYTES, broken);
      expect(log.lines.at(-1)?.fields, `read ${failing}`).toMatchObject({
        file: expect.stringContaining('zones.1'),
      });
      if (again.isRestored) expect(again.writer.zones).toBeGreaterThan(0);
      else expect([again.writer.zones, again.place]).toEqual([0, undefined]);
    }
    await expectFresh(
      new Node(IMAGE_BYTES, () => {
        throw new Error('EIO');
      }),
    );
  });

  test('a directory in its place, or a pipe without a writer', async () => {
    mkdirSync(BASE());
    await expectFresh(new Node());
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    execFileSync('mkfifo', [BASE()]);
    const again = new Node();
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { file: BASE() } });
    await expectFresh(again);
    expect(existsSync(BASE())).toBe(false);
  });

  test('an invalid position in the feed, with a valid checksum', async () => {
    for (const place of [{}, 7, { epoch: 'e', from: 'x', inFlight: [], recent: [], position: 1 }]) {
      await writeSnapshot();
      resealBase(BASE(), ({ head }) => {
        head.place = place;
      });
      await expectFresh(new Node());
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
    }
  });
});

describe('the check of a restored image', () => {
  test('finds a fault despite valid checksums, and the next start skips the snapshot', async () => {
    const first = new Node();
    first.putAll(100);
    first.remove(...names(60));
    await first.write(5);
    resealBase(BASE(), ({ free }) => free.copy(free, 8, 0, 8));
    const again = new Node();
    noteRestoring(directory, 1);
    await expect(again.snapshot.checkRestored(again.writer)).rejects.toThrow('is not valid: ');
    await expectFresh(new Node());
  });

  test('forgets the attempt to read a valid snapshot, even if the node is stopped before the check or meanwhile', async () => {
    await writeSnapshot();
    for (const stopped of ['never', 'before', 'meanwhile']) {
      const again = new Node();
      noteRestoring(directory, 1);
      if (stopped === 'before') await again.snapshot.stop();
      const checked = stopped === 'before' ? undefined : again.snapshot.checkRestored(again.writer);
      if (stopped === 'meanwhile') await again.snapshot.stop();
      else await checked;
      expect(readdirSync(directory).sort()).toEqual(['zones.1.image', 'zones.1.log']);
      await checked;
    }
  });
});

describe('a log entry that cannot be applied', () => {
  test('ends the log, and earlier entries and their position are used', async () => {
    await writeSnapshot();
    resealLog(LOG(), (entries) => entries.map((entry, i) => (i === 6 ? Buffer.from([99]) : entry)));
    const again = new Node();
    expect([again.isRestored, again.place]).toEqual([true, placeAt(6)]);
    expect(again.writer.contentOf(parseName('log.z2.example.'))).toBeDefined();
    expect(log.lines.at(-1)).toMatchObject({ fields: { file: LOG() } });
    await expectUsable(again);
  });

  test('also ends it if it is a name without an end, in which every search would loop', async () => {
    await writeSnapshot();
    for (const name of ['\x03abc', '\x3fabc\0', '\xc0\x0c', '\x01A\0']) {
      const removal = Buffer.concat([Buffer.from([3, name.length]), Buffer.from(name, 'latin1')]);
      resealLog(LOG(), (entries) => [removal, ...entries.slice(1)]);
      const again = new Node();
      expect([again.isRestored, again.place], name).toEqual([true, placeAt(5)]);
    }
  });
});

describe('a snapshot written by another process', () => {
  const filesOf = () =>
    new Map(
      readdirSync(directory).map((name) => {
        const file = join(directory, name);
        return [name, [readFileSync(file), statSync(file, { bigint: true }).mtimeNs]];
      }),
    );
  const foreign = () => new Node(IMAGE_BYTES, undefined, true);

  test('is read, and its directory is unchanged until it is owned', async () => {
    const first = await writeSnapshot();
    noteRestoring(directory, 1); // another reader was killed
    const before = filesOf();
    const directoryBefore = statSync(directory, { bigint: true }).mtimeNs;
    const second = foreign();
    expect([second.isRestored, second.place]).toEqual([true, placeAt(7)]);
    expectSame(second, first);
    second.put('z3.example.', 70);
    second.snapshot.reach(placeAt(8));
    await second.write(8);
    second.snapshot.abandon();
    second.put('z4.example.', 71);
    await second.write(9);
    await second.snapshot.stop();
    expect(filesOf()).toEqual(before);
    expect(statSync(directory, { bigint: true }).mtimeNs).toBe(directoryBefore);
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('is written when it is owned, with a higher generation than any file, and has all later changes', async () => {
    const first = await writeSnapshot();
    const second = foreign();
    second.put('z3.example.', 70);
    // In the meantime, the other process has rewritten the snapshot, and was killed while writing the next one.
    for (const [i, name] of names(40).entries()) first.put(name, 80 + i);
    first.snapshot.abandon();
    await first.write(9);
    writeFileSync(join(directory, 'zones.7.image.tmp'), 'half');
    expect(readdirSync(directory).sort()).toEqual(['zones.2.image', 'zones.2.log', 'zones.7.image.tmp']);
    await first.snapshot.stop();
    second.snapshot.own();
    second.put('z5.example.', 72);
    await second.write(10);
    second.put('z6.example.', 73);
    second.snapshot.reach(placeAt(11));
    expect(readdirSync(directory).sort()).toEqual(['zones.8.image', 'zones.8.log']);
    const third = new Node();
    expect(third.place).toEqual(placeAt(11));
    expectSame(third, second);
  });

  test('whose log ends in an incomplete entry, or which disappears while it is read, is read up to there', async () => {
    const first = await written(20);
    first.put('z1.example.', 50);
    first.snapshot.reach(placeAt(6));
    const whole = readFileSync(LOG());
    first.put('z2.example.', 51);
    first.snapshot.reach(placeAt(7));
    writeFileSync(LOG(), readFileSync(LOG()).subarray(0, whole.length + 20));
    expect(foreign().place).toEqual(placeAt(6));
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    rmSync(LOG());
    const second = foreign();
    expect([second.isRestored, second.place]).toEqual([true, placeAt(5)]);
    rmSync(BASE());
    expect(foreign().isRestored).toBe(false);
  });
});

describe('a snapshot whose reader ended', () => {
  test('is read again after one or two kills, but not indefinitely', async () => {
    const first = await writeSnapshot();
    for (let kills = 1; kills <= 2; kills++) {
      for (let i = 0; i < kills; i++) noteRestoring(directory, 1);
      expectSame(new Node(), first);
    }
    for (let i = 0; i < 3; i++) noteRestoring(directory, 1);
    const again = new Node();
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { file: BASE() } });
    await expectFresh(again);
  });

  test('is not read again if the watchdog ended the reader, but its successor is', async () => {
    await writeSnapshot();
    noteRestoring(directory, 1);
    noteStuck(directory);
    await expectFresh(new Node());
  });
});
