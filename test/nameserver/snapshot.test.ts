import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { diskSpaceOf } from '../../src/nameserver/snapshot/disk-space.ts';
import {
  noteRestoring,
  noteStuck,
  noteUnsound,
  readRestoreNote,
  removeRestoreNote,
  whyNotRead,
} from '../../src/nameserver/snapshot/restore-note.ts';
import { readBase, writeBase } from '../../src/nameserver/snapshot/snapshot-base.ts';
import {
  decodeEntry,
  encodeEntry,
  type SnapshotEntry,
} from '../../src/nameserver/snapshot/snapshot-entry.ts';
import { LOG_ID_BYTES, readLog, SnapshotLog } from '../../src/nameserver/snapshot/snapshot-log.ts';
import type { StillImage } from '../../src/nameserver/snapshot/still-image.ts';
import { smallZone } from '../support/processes/follow.ts';
import { scale } from '../support/tests/scale.ts';

it('the space of a directory that does not exist yet is that of its parent', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'zf-space-'));
  const { bsize, blocks } = statfsSync(directory);
  const space = await diskSpaceOf(join(directory, 'nodes', 'a'))();
  expect(space?.total).toBe(bsize * blocks);
  expect(space?.free).toBeLessThan(bsize * blocks);
  rmSync(directory, { recursive: true });
});

it('concurrent reads of the space share one', () => {
  const read = diskSpaceOf(tmpdir());
  expect(read()).toBe(read());
});

it('the space of a path that is not a directory is unknown', async () => {
  expect(await diskSpaceOf('/dev/null/nodes')()).toBeUndefined();
});

describe('the restore note', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-note-'));
  });
  afterEach(() => {
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true, force: true });
  });

  it('a snapshot is read until three attempts did not end', () => {
    for (const wanted of [undefined, undefined, undefined, 'the process ended 3 times while it was read']) {
      expect(whyNotRead(readRestoreNote(directory), 4)).toBe(wanted);
      noteRestoring(directory, 4);
    }
  });

  it('the count restarts after a complete read, and for another generation', () => {
    for (let i = 0; i < 5; i++) noteRestoring(directory, 4);
    expect(whyNotRead(readRestoreNote(directory), 5)).toBeUndefined();
    noteRestoring(directory, 5);
    expect(readRestoreNote(directory)).toMatchObject({ generation: 5, attempts: 1, isStuck: false });
    removeRestoreNote(directory);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('one reader that was ended for lack of progress suffices', () => {
    noteStuck(directory); // no read was in progress
    expect(readRestoreNote(directory)).toBeUndefined();
    noteRestoring(directory, 4);
    noteStuck(directory);
    expect(whyNotRead(readRestoreNote(directory), 4)).toContain('made no progress');
  });

  it('one check that found a fault suffices', () => {
    noteUnsound(directory); // no check was in progress
    expect(readRestoreNote(directory)).toBeUndefined();
    noteRestoring(directory, 4);
    noteUnsound(directory);
    noteStuck(directory);
    expect(whyNotRead(readRestoreNote(directory), 4)).toBe('its content is not valid');
    expect(whyNotRead(readRestoreNote(directory), 5)).toBeUndefined();
  });

  it('a note that is damaged or not writable is ignored', () => {
    for (const text of ['', 'x', '{}', 'null', '[]', '{"generation":"1","attempts":9}']) {
      writeFileSync(join(directory, 'restoring.json'), text);
      expect(readRestoreNote(directory)).toBeUndefined();
    }
    noteRestoring(join(directory, 'restoring.json', 'below a file'), 1);
  });
});

describe('the base of a snapshot', () => {
  const ID = new Uint8Array(16).fill(9);
  const LAYOUT = 3;
  const BYTES = (9 << 20) + 13;
  const PLACE = { cursor: { epoch: 'e', from: 12n, inFlight: [], recent: [] }, position: 11 };
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-base-'));
    file = join(directory, 'zones.1.image');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const PATTERN = Uint8Array.from({ length: 65_537 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
  function imageBuffer(bytes = BYTES): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(bytes + 4096);
    const view = new Uint8Array(buffer, 0, bytes);
    for (let at = 0; at < bytes; at += PATTERN.length) view.set(PATTERN.subarray(0, bytes - at), at);
    return buffer;
  }

  const FROM = 64;
  const STILL: StillImage = {
    layout: LAYOUT,
    from: FROM,
    to: BYTES,
    copies: [],
    header: new Uint8Array(99).fill(4),
    free: new Uint8Array(70_001).fill(5),
  };

  const SMALL = { ...STILL, to: 5000, free: new Uint8Array(50).fill(5) };

  async function write(buffer: SharedArrayBuffer, still = STILL, signal = new AbortController().signal) {
    const onImageWritten = vi.fn();
    await writeBase(file, buffer, still, ID, PLACE, onImageWritten, signal);
    expect(onImageWritten).toHaveBeenCalledOnce();
  }

  test('returns the image, the free space and the position in the feed', async () => {
    const buffer = imageBuffer();
    await write(buffer);
    const again = new SharedArrayBuffer(BYTES + 100);
    const read = readBase(file, again, LAYOUT);
    expect(read).toMatchObject({ kind: 'read', from: FROM, to: BYTES, place: PLACE });
    if (read.kind !== 'read') return;
    expect(Buffer.from(read.id)).toEqual(Buffer.from(ID));
    expect(Buffer.from(read.header).equals(STILL.header)).toBe(true);
    expect(Buffer.from(read.free).equals(STILL.free)).toBe(true);
    const blocks = (of: SharedArrayBuffer) => new Uint8Array(of, FROM, BYTES - FROM);
    expect(Buffer.compare(blocks(again), blocks(buffer))).toBe(0);
    expect(new Uint8Array(again, 0, FROM)).toEqual(new Uint8Array(FROM));
    expect(new Uint8Array(again, BYTES)).toEqual(new Uint8Array(100));
    expect(readdirSync(directory)).toEqual(['zones.1.image']);
  });

  test('contains the copies instead of parts that changed in the meantime, even across chunks', async () => {
    const buffer = imageBuffer();
    const copy = (at: number, length: number) => ({ at, bytes: new Uint8Array(length).fill(0xaa) });
    const copies = [copy(FROM, 16384), copy((4 << 20) - 100, (4 << 20) + 200), copy(BYTES - 5, 5)];
    await write(buffer, { ...STILL, copies });
    const again = new SharedArrayBuffer(BYTES);
    readBase(file, again, LAYOUT);
    const wanted = new Uint8Array(new Uint8Array(buffer, 0, BYTES));
    for (const { at, bytes } of copies) wanted.set(bytes, at);
    wanted.fill(0, 0, FROM);
    expect(Buffer.compare(new Uint8Array(again), wanted)).toBe(0);
  });

  test('with any byte changed, removed or added is refused, and the memory is unchanged', async () => {
    await write(imageBuffer(SMALL.to), SMALL);
    const whole = readFileSync(file);
    const attempt = (content: Uint8Array) => {
      writeFileSync(file, content);
      const buffer = new SharedArrayBuffer(SMALL.to);
      expect(readBase(file, buffer, LAYOUT).kind).toBe('refused');
      expect(new Uint8Array(buffer).every((byte) => byte === 0)).toBe(true);
    };
    const headBytes = 16 + whole.readUInt32LE(8);
    const inPadding = (at: number) => at >= headBytes && at < 4096;
    for (let at = 0; at < whole.length; at += at < 4096 ? 1 : 211) {
      if (inPadding(at)) continue;
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      attempt(damaged);
    }
    for (const length of [0, 5, 100, 4096, 6000, whole.length - 1]) attempt(whole.subarray(0, length));
    attempt(Buffer.concat([whole, Buffer.of(0)]));
  });

  test('of another layout, or larger than the image may be, is refused with the reason', async () => {
    await write(imageBuffer(SMALL.to), SMALL);
    const buffer = new SharedArrayBuffer(SMALL.to);
    expect(readBase(file, buffer, LAYOUT + 1)).toMatchObject({
      why: expect.stringContaining('another format'),
    });
    const smaller = new SharedArrayBuffer(SMALL.to - 1);
    expect(readBase(file, smaller, LAYOUT)).toMatchObject({ why: expect.stringContaining('IMAGE_BYTES') });
  });

  test('that is aborted leaves the previous one', async () => {
    await write(imageBuffer());
    const before = readFileSync(file);
    const stopping = new AbortController();
    const writing = write(imageBuffer(), STILL, stopping.signal);
    stopping.abort();
    await expect(writing).rejects.toThrow('abort');
    expect(readdirSync(directory)).toEqual(['zones.1.image']);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

const { apex, records } = smallZone('a.example.', 7, 'www A 192.0.2.9\n*.w TXT ""\n@ TXT "x"');
const content = { id: 2 ** 40 + 1, version: 2 ** 50 + 3, mark: 2 ** 48 - 1 };
const cursor = {
  epoch: '7/1/5/16/17/e',
  from: 2n ** 62n + 1n,
  inFlight: [2n ** 61n, 7n],
  recent: [{ id: 3, mark: 4, xid: 2n ** 60n }],
};

const entries: [string, SnapshotEntry][] = [
  ['a whole zone', { kind: 'zone', apex, content, records }],
  ['a zone without records', { kind: 'zone', apex, content, records: [] }],
  [
    'changed and deleted record sets',
    {
      kind: 'sets',
      apex,
      content,
      records: records.slice(1),
      gone: [{ owner: parseName('x.y.a.example.'), type: 65280 }],
    },
  ],
  ['a removal', { kind: 'removal', apex }],
  ['a position in the feed', { kind: 'place', place: { cursor, position: 12 } }],
  ['no place', { kind: 'place', place: undefined }],
];

describe('an entry', () => {
  test.each(entries)('%s is read as it was written', (_, entry) => {
    const read = decodeEntry(Buffer.from(encodeEntry(entry)));
    expect(plain(read)).toEqual(plain(entry));
  });

  test.each(entries)('%s that is truncated is an error', (_, entry) => {
    const octets = Buffer.from(encodeEntry(entry));
    for (let length = 0; length < octets.length; length++) {
      expect(() => decodeEntry(octets.subarray(0, length))).toThrow();
    }
  });
});

/** Converts rdata to text: one may be a Buffer, and the other not. */
function plain(entry: SnapshotEntry): unknown {
  if (entry.kind !== 'zone' && entry.kind !== 'sets') return entry;
  const records = entry.records.map(({ owner, type, ttl, rdata }) => {
    return { owner, type, ttl, rdata: Buffer.from(rdata).toString('hex') };
  });
  return { ...entry, records };
}

describe('the log of a snapshot', () => {
  const ID = new Uint8Array(LOG_ID_BYTES).fill(7);
  const HEAD_BYTES = 32;
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-log-'));
    file = join(directory, 'zones.1.log');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const name = (i: number) => parseName(`z${i}.example.`);

  function write(from: number, to: number): void {
    const log = from === 0 ? SnapshotLog.create(file, ID) : SnapshotLog.goOn(file, statSync(file).size);
    for (let i = from; i < to; i++) log.append({ kind: 'removal', apex: name(i) });
    log.flush();
    expect(log.bytes).toBe(statSync(file).size);
    log.close();
  }

  function read(id = ID): { end: number | undefined; apexes: Name[] } {
    const apexes: Name[] = [];
    const end = readLog(file, id, (entry) => {
      if (entry.kind === 'removal') apexes.push(entry.apex);
    });
    return { end, apexes };
  }

  const names = (count: number) => Array.from({ length: count }, (_, i) => name(i));

  test('contains the appended entries in order, and can be continued', () => {
    write(0, 10);
    write(10, 20);
    expect(read()).toEqual({ end: statSync(file).size, apexes: names(20) });
  });

  test('of another base is refused', () => {
    write(0, 3);
    expect(read(new Uint8Array(LOG_ID_BYTES))).toEqual({ end: undefined, apexes: [] });
  });

  test('truncated anywhere contains the whole entries before the cut, and continues there', () => {
    write(0, 5);
    const whole = readFileSync(file);
    const entryBytes = (whole.length - HEAD_BYTES) / 5;
    for (let length = HEAD_BYTES; length < whole.length; length += scale(1, 11)) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      const count = Math.floor((length - HEAD_BYTES) / entryBytes);
      expect(read()).toEqual({ end: HEAD_BYTES + count * entryBytes, apexes: names(count) });
      const log = SnapshotLog.goOn(file, HEAD_BYTES + count * entryBytes);
      log.append({ kind: 'removal', apex: name(count) });
      log.flush();
      log.close();
      expect(read().apexes).toEqual(names(count + 1));
    }
  });

  test('is not changed by a reader that writes nothing', () => {
    write(0, 5);
    const whole = readFileSync(file);
    SnapshotLog.goOn(file, HEAD_BYTES).close();
    expect(readFileSync(file)).toEqual(whole);
  });

  test('with any byte changed ends before the affected entry', () => {
    write(0, 5);
    const whole = readFileSync(file);
    const entryBytes = (whole.length - HEAD_BYTES) / 5;
    for (let at = HEAD_BYTES; at < whole.length; at += scale(1, 11)) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0x40;
      writeFileSync(file, damaged);
      expect(read().apexes).toEqual(names(Math.floor((at - HEAD_BYTES) / entryBytes)));
    }
  });

  test('that a crash padded with zeros ends before them', () => {
    write(0, 5);
    appendFileSync(file, Buffer.alloc(5000));
    expect(read().apexes).toEqual(names(5));
  });

  test('larger than one read is read completely', () => {
    const log = SnapshotLog.create(file, ID);
    const rdata = new Uint8Array(60_000).fill(3);
    const record = { owner: name(1), type: 65280, ttl: 1, rdata };
    for (let i = 0; i < 40; i++) {
      const records = Array.from({ length: i === 20 ? 100 : 1 }, () => record);
      log.append({ kind: 'zone', apex: name(i), content: { id: i, version: i, mark: i }, records });
    }
    log.flush();
    log.close();
    const seen: number[] = [];
    readLog(file, ID, (entry) => {
      if (entry.kind === 'zone') seen.push(entry.content.id * 1000 + entry.records.length);
    });
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i * 1000 + (i === 20 ? 100 : 1)));
  });
});
