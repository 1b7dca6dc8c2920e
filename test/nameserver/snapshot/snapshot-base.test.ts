import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readBase, type StillImage, writeBase } from '../../../src/nameserver/snapshot/snapshot-base.ts';

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

function imageBuffer(bytes = BYTES): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes + 4096);
  const view = new Uint8Array(buffer, 0, bytes);
  for (let i = 0; i < view.length; i++) view[i] = Math.imul(i, 0x9e3779b1) >>> 24;
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

async function write(buffer: SharedArrayBuffer, still = STILL, signal = new AbortController().signal) {
  const onImageWritten = vi.fn();
  await writeBase(file, buffer, still, ID, PLACE, onImageWritten, signal);
  expect(onImageWritten).toHaveBeenCalledOnce();
}

describe('the base of a snapshot', () => {
  test('gives back the image, the free space and the place in the feed', async () => {
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

  test('has the copies in place of what was changed meanwhile, over the borders of chunks too', async () => {
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

  test('with any byte changed, cut short or grown is refused, and the memory is as before', async () => {
    const bytes = 5000;
    const small = { ...STILL, to: bytes, free: new Uint8Array(50).fill(5) };
    await write(imageBuffer(bytes), small);
    const whole = readFileSync(file);
    const attempt = (content: Uint8Array) => {
      writeFileSync(file, content);
      const buffer = new SharedArrayBuffer(bytes);
      expect(readBase(file, buffer, LAYOUT).kind).toBe('refused');
      expect(new Uint8Array(buffer).every((byte) => byte === 0)).toBe(true);
    };
    const headBytes = 16 + whole.readUInt32LE(8);
    const inPadding = (at: number) => at >= headBytes && at < 4096;
    for (let at = 0; at < whole.length; at += at < 4096 ? 1 : 17) {
      if (inPadding(at)) continue;
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      attempt(damaged);
    }
    for (const length of [0, 5, 100, 4096, 6000, whole.length - 1]) attempt(whole.subarray(0, length));
    attempt(Buffer.concat([whole, Buffer.of(0)]));
  });

  test('of another layout, or larger than the image may be, is refused with the reason', async () => {
    await write(imageBuffer());
    const buffer = new SharedArrayBuffer(BYTES);
    expect(readBase(file, buffer, LAYOUT + 1)).toMatchObject({
      why: expect.stringContaining('another format'),
    });
    const smaller = new SharedArrayBuffer(BYTES - 1);
    expect(readBase(file, smaller, LAYOUT)).toMatchObject({ why: expect.stringContaining('IMAGE_BYTES') });
  });

  test('that is given up leaves the one before', async () => {
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
