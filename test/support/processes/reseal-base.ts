// Changes the base of a snapshot and its checksums, so that only the check of the blocks can find the change.

import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const CHUNK_BYTES = 4 << 20;

interface BaseParts {
  /** As JSON that tests can change. */
  // biome-ignore lint/suspicious/noExplicitAny: tests write anything into it
  head: any;
  readonly blocks: Buffer;
  readonly header: Buffer;
  readonly free: Buffer;
}

export function resealBase(file: string, change: (parts: BaseParts) => void): void {
  const bytes = readFileSync(file);
  const headBytes = bytes.readUInt32LE(8);
  const head = JSON.parse(bytes.subarray(16, 16 + headBytes).toString());
  let at = aligned(16 + headBytes);
  const take = (length: number) => {
    at += length;
    return Buffer.from(bytes.subarray(at - length, at));
  };
  const blocks = take(head.to - head.from);
  const parts = { head, blocks, header: take(head.headerOctets), free: take(head.freeOctets) };
  change(parts);
  const text = Buffer.from(JSON.stringify(parts.head));
  const first = Buffer.alloc(aligned(16 + text.length));
  bytes.copy(first, 0, 0, 8);
  first.writeUInt32LE(text.length, 8);
  first.writeUInt32LE(crc32(text), 12);
  text.copy(first, 16);
  const rest = Buffer.concat([parts.header, parts.free]);
  const table = Buffer.concat(
    [...chunksOf(parts.blocks), ...chunksOf(rest)].map((chunk) => word(crc32(chunk))),
  );
  writeFileSync(file, Buffer.concat([first, parts.blocks, rest, table, word(crc32(table))]));
}

function chunksOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, i) =>
    bytes.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES),
  );
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096;
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
