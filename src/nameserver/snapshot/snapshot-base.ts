// A snapshot's base file: the bytes of the image in memory, with a CRC for each chunk. It is written under a temporary
// name while edits continue: blocks in use are immutable, and the parts that change in place are copied at the beginning.
//
//   magic 8 · bytes of the head 4 · CRC of the head 4 · head (JSON), padded to 4 KiB · the image's blocks · its header
//   and free space · CRC of each chunk of these, 4 each in the machine's byte order · CRC of the CRCs

import { closeSync, fstatSync, readSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { endianness } from 'node:os';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { openPlainFile, type ReadFile } from './plain-file.ts';
import { decodePlace, encodePlace, type FeedPlace } from './snapshot-entry.ts';
import type { StillImage } from './still-image.ts';

const MAGIC = Buffer.from('ZFLEETIM');
const FORMAT = 1;
const HEAD_AT = 16;
const HEAD_ALIGNMENT = 4096;
const MAX_HEAD_BYTES = 16 << 20;
/** Small, so that neither the CRC nor the copy of a chunk delays edits for long. */
const CHUNK_BYTES = 4 << 20;
/** The file is synced in steps, so that no single sync delays the end of the process. */
const CHUNKS_A_SYNC = 16;

interface Head {
  format: number;
  layout: number;
  endianness: string;
  id: string;
  from: number;
  to: number;
  headerOctets: number;
  freeOctets: number;
  chunkOctets: number;
  place: ReturnType<typeof encodePlace>;
}

/**
 * Writes, syncs and renames the file. Blocks may be reused from `onImageWritten` on. If aborted, rejects and leaves no file.
 */
export async function writeBase(
  file: string,
  buffer: SharedArrayBuffer,
  still: StillImage,
  id: Uint8Array,
  place: FeedPlace | undefined,
  onImageWritten: () => void,
  signal: AbortSignal,
): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    const head = Buffer.from(
      JSON.stringify({
        format: FORMAT,
        layout: still.layout,
        endianness: endianness(),
        id: Buffer.from(id).toString('hex'),
        from: still.from,
        to: still.to,
        headerOctets: still.header.length,
        freeOctets: still.free.length,
        chunkOctets: CHUNK_BYTES,
        place: encodePlace(place),
      } satisfies Head),
    );
    const first = Buffer.alloc(alignedHead(head.length));
    MAGIC.copy(first);
    first.writeUInt32LE(head.length, 8);
    first.writeUInt32LE(crc32(head), 12);
    head.copy(first, HEAD_AT);
    let position = await writeWhole(handle, first, 0);
    const crcs: number[] = [];
    const own = new Uint8Array(CHUNK_BYTES);
    for (const { at, chunk: shared } of chunksOf(buffer, still.from, still.to)) {
      signal.throwIfAborted();
      // A copy: free space may be reused while it is written, and would then not match its CRC.
      own.set(shared);
      const chunk = own.subarray(0, shared.length);
      applyCopies(chunk, at, still.copies);
      crcs.push(crc32(chunk));
      position = await writeWhole(handle, chunk, position);
      if (crcs.length % CHUNKS_A_SYNC === 0) await handle.datasync();
    }
    onImageWritten();
    const rest = Buffer.concat([still.header, still.free]);
    for (const { chunk } of chunksOf(rest.buffer, rest.byteOffset, rest.byteOffset + rest.length)) {
      crcs.push(crc32(chunk));
      position = await writeWhole(handle, chunk, position);
    }
    const table = Buffer.from(Uint32Array.from(crcs).buffer);
    await writeWhole(handle, Buffer.concat([table, ofUint32(crc32(table))]), position);
    await handle.sync();
    signal.throwIfAborted();
  } catch (error) {
    await handle.close();
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await handle.close();
  await rename(temporary, file);
  await syncDirectory(dirname(file));
}

type ReadBase =
  | {
      readonly kind: 'read';
      readonly id: Uint8Array;
      /** The range of the buffer that contains the blocks. */
      readonly from: number;
      readonly to: number;
      readonly header: Uint8Array;
      readonly free: Uint8Array;
      readonly place: FeedPlace | undefined;
    }
  | { readonly kind: 'refused'; readonly why: string };

interface ReadBaseOptions {
  readonly read?: ReadFile;
  /** Called after each chunk with the number of bytes read and the total. */
  readonly onBytes?: (done: number, total: number) => void;
}

/** Reads the blocks into the buffer. If the file is refused or an error occurs, the buffer is cleared again. */
export function readBase(
  file: string,
  buffer: SharedArrayBuffer,
  layout: number,
  { read = readSync, onBytes }: ReadBaseOptions = {},
): ReadBase {
  const fd = openPlainFile(file);
  try {
    const input: BaseInput = { fd, read, onBytes };
    const head = readHead(input);
    if (typeof head === 'string') return { kind: 'refused', why: head };
    const why = unfitness(head, layout, buffer.byteLength, fstatSync(fd).size);
    if (why !== undefined) return { kind: 'refused', why };
    const rest = new Uint8Array(head.headerOctets + head.freeOctets);
    if (!readChunks(input, head, buffer, rest)) {
      return { kind: 'refused', why: 'it is damaged: a byte has changed' };
    }
    return {
      kind: 'read',
      id: Buffer.from(head.id, 'hex'),
      from: head.from,
      to: head.to,
      header: rest.slice(0, head.headerOctets),
      free: rest.slice(head.headerOctets),
      place: head.place,
    };
  } finally {
    closeSync(fd);
  }
}

/** Clears the buffer to its state before reading. */
export function wipe(buffer: SharedArrayBuffer, from: number, to: number): void {
  for (const { chunk } of chunksOf(buffer, from, to)) chunk.fill(0);
}

interface BaseInput {
  readonly fd: number;
  readonly read: ReadFile;
  readonly onBytes: ReadBaseOptions['onBytes'];
}

interface ReadHead extends Omit<Head, 'place'> {
  readonly place: FeedPlace | undefined;
  readonly bytes: number;
}

function readHead(input: BaseInput): ReadHead | string {
  const start = Buffer.alloc(HEAD_AT);
  if (!readWhole(input, start, 0) || !start.subarray(0, 8).equals(MAGIC)) return 'it is not a zone image';
  const bytes = start.readUInt32LE(8);
  if (bytes > MAX_HEAD_BYTES) return 'its head is damaged';
  const text = Buffer.alloc(bytes);
  if (!readWhole(input, text, HEAD_AT) || crc32(text) !== start.readUInt32LE(12))
    return 'its head is damaged';
  const head = JSON.parse(text.toString()) as Head;
  return { ...head, place: decodePlace(head.place), bytes: alignedHead(bytes) };
}

function unfitness(head: ReadHead, layout: number, room: number, size: number): string | undefined {
  if (head.format !== FORMAT || head.layout !== layout || head.chunkOctets !== CHUNK_BYTES) {
    return `it is of another format (${head.format}.${head.layout}, not ${FORMAT}.${layout})`;
  }
  if (head.endianness !== endianness()) return 'it was written on a machine with another byte order';
  const { from, to, headerOctets, freeOctets } = head;
  if (
    ![from, to - from, headerOctets, freeOctets].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)
  ) {
    return 'its head is damaged';
  }
  if (head.to > room) return `its ${head.to} bytes are more than IMAGE_BYTES allows`;
  const whole = head.bytes + contentBytes(head) + 4 * (chunkCount(head) + 1);
  return size === whole ? undefined : `it has ${size} bytes, not ${whole}`;
}

function contentBytes({ from, to, headerOctets, freeOctets }: Omit<Head, 'place'>): number {
  return to - from + headerOctets + freeOctets;
}

function chunkCount({ from, to, headerOctets, freeOctets }: Omit<Head, 'place'>): number {
  return Math.ceil((to - from) / CHUNK_BYTES) + Math.ceil((headerOctets + freeOctets) / CHUNK_BYTES);
}

/** Returns false if a byte differs from what was written. On any failure the buffer is cleared. */
function readChunks(input: BaseInput, head: ReadHead, buffer: SharedArrayBuffer, rest: Uint8Array): boolean {
  let filled = head.from;
  let isWhole = false;
  try {
    const crcs = readCrcs(input, head);
    if (crcs === undefined) return false;
    let position = head.bytes;
    let i = 0;
    for (const chunks of [chunksOf(buffer, head.from, head.to), chunksOf(rest.buffer, 0, rest.length)]) {
      for (const { chunk } of chunks) {
        if (chunk.buffer === buffer) filled += chunk.length;
        if (!readWhole(input, chunk, position) || crc32(chunk) !== crcs[i]) return false;
        position += chunk.length;
        i++;
        input.onBytes?.(position - head.bytes, contentBytes(head));
      }
    }
    isWhole = true;
    return true;
  } finally {
    if (!isWhole) wipe(buffer, head.from, filled);
  }
}

function readCrcs(input: BaseInput, head: ReadHead): Uint32Array | undefined {
  const table = Buffer.alloc(4 * chunkCount(head));
  const tableCrc = Buffer.alloc(4);
  const tableAt = head.bytes + contentBytes(head);
  if (!readWhole(input, table, tableAt) || !readWhole(input, tableCrc, tableAt + table.length))
    return undefined;
  if (!ofUint32(crc32(table)).equals(tableCrc)) return undefined;
  return new Uint32Array(table.buffer, table.byteOffset, table.length / 4);
}

function chunksOf(buffer: ArrayBufferLike, from: number, to: number): { at: number; chunk: Uint8Array }[] {
  return Array.from({ length: Math.ceil((to - from) / CHUNK_BYTES) }, (_, i) => {
    const at = from + i * CHUNK_BYTES;
    return { at, chunk: new Uint8Array(buffer, at, Math.min(CHUNK_BYTES, to - at)) };
  });
}

function applyCopies(chunk: Uint8Array, at: number, copies: StillImage['copies']): void {
  const end = at + chunk.length;
  for (const copy of copies) {
    if (copy.at >= end || copy.at + copy.bytes.length <= at) continue;
    const from = Math.max(0, at - copy.at);
    chunk.set(copy.bytes.subarray(from, end - copy.at), copy.at + from - at);
  }
}

function alignedHead(bytes: number): number {
  return Math.ceil((HEAD_AT + bytes) / HEAD_ALIGNMENT) * HEAD_ALIGNMENT;
}

function ofUint32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

async function writeWhole(handle: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
  return position + bytes.length;
}

function readWhole({ fd, read }: BaseInput, into: Uint8Array, position: number): boolean {
  for (let at = 0; at < into.length; ) {
    const bytes = read(fd, into, at, into.length - at, position + at);
    if (bytes === 0) return false;
    at += bytes;
  }
  return true;
}

/** Syncs the directory, so that the new name survives a power failure. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
