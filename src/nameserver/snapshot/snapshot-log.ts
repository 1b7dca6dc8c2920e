// The log that follows a snapshot's base file: entries with length and CRC, appended as they are applied. It ends at
// the first entry that is incomplete or does not match its CRC; all earlier entries are whole.
//
//   magic 8 · format 4 · CRC of the id 4 · id 16 · (length 4 · CRC 4 · entry)*          numbers little-endian

import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { openPlainFile, type ReadFile } from './plain-file.ts';
import { decodeEntry, encodeEntry, type SnapshotEntry } from './snapshot-entry.ts';

const MAGIC = Buffer.from('ZFLEETLG');
const FORMAT = 1;
export const LOG_ID_BYTES = 16;
const HEAD_BYTES = 16 + LOG_ID_BYTES;
const ENTRY_HEAD_BYTES = 8;
const FLUSH_BYTES = 1 << 20;
const READ_BYTES = 4 << 20;

export class SnapshotLog {
  readonly #file: string;
  #fd: number | undefined;
  #bytes: number;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  private constructor(file: string, fd: number | undefined, bytes: number) {
    this.#file = file;
    this.#fd = fd;
    this.#bytes = bytes;
  }

  /** @param id the id of the base */
  static create(file: string, id: Uint8Array): SnapshotLog {
    const head = Buffer.alloc(HEAD_BYTES);
    MAGIC.copy(head);
    head.writeUInt32LE(FORMAT, 8);
    head.writeUInt32LE(crc32(id), 12);
    head.set(id, 16);
    const fd = openSync(file, 'w', 0o600);
    try {
      writeWhole(fd, head);
    } catch (error) {
      closeSync(fd); // a full disk is tried again every few seconds
      throw error;
    }
    return new SnapshotLog(file, fd, HEAD_BYTES);
  }

  /**
   * Continues after the first `bytes`, which are whole entries, and truncates the rest. The file is opened when the
   * first entry is written: until the node certainly holds its name, another process may be writing to it.
   */
  static goOn(file: string, bytes: number): SnapshotLog {
    return new SnapshotLog(file, undefined, bytes);
  }

  /** Length of the log, including entries not yet written. */
  get bytes(): number {
    return this.#bytes + this.#waitingBytes;
  }

  append(entry: SnapshotEntry): void {
    const payload = encodeEntry(entry);
    const head = Buffer.allocUnsafe(ENTRY_HEAD_BYTES);
    head.writeUInt32LE(payload.length, 0);
    head.writeUInt32LE(crc32(payload), 4);
    this.#waiting.push(head, payload);
    this.#waitingBytes += ENTRY_HEAD_BYTES + payload.length;
    if (this.#waitingBytes >= FLUSH_BYTES) this.flush();
  }

  /** Writes the waiting entries to the file, so that a crash of this process does not lose them. */
  flush(): void {
    if (this.#waitingBytes === 0) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#fd === undefined) {
      this.#fd = openSync(this.#file, 'r+');
      ftruncateSync(this.#fd, this.#bytes);
    }
    writeWhole(this.#fd, bytes, this.#bytes);
    this.#bytes += bytes.length;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  remove(): void {
    this.close();
    unlinkSync(this.#file);
  }
}

function writeWhole(fd: number, bytes: Uint8Array, position = 0): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, position + at);
  }
}

/** Calls `apply` for each whole entry. Returns the end of the last one, or undefined if the log has another base. */
export function readLog(
  file: string,
  id: Uint8Array,
  apply: (entry: SnapshotEntry) => void,
  read: ReadFile = readSync,
): number | undefined {
  const fd = openPlainFile(file);
  try {
    const input = new LogInput(fd, read);
    const head = input.take(HEAD_BYTES);
    const isOurs =
      head?.subarray(0, 8).equals(MAGIC) && head.readUInt32LE(8) === FORMAT && head.subarray(16).equals(id);
    if (!isOurs) return undefined;
    for (let end = HEAD_BYTES; ; ) {
      const entryHead = input.take(ENTRY_HEAD_BYTES);
      if (entryHead === undefined) return end;
      const bytes = entryHead.readUInt32LE(0);
      const crc = entryHead.readUInt32LE(4);
      const payload = input.take(bytes);
      if (payload === undefined || crc32(payload) !== crc || bytes === 0) return end;
      apply(decodeEntry(payload));
      end += ENTRY_HEAD_BYTES + bytes;
    }
  } finally {
    closeSync(fd);
  }
}

/** A file read sequentially through a window. */
class LogInput {
  readonly #fd: number;
  readonly #read: ReadFile;
  #window: Buffer = Buffer.alloc(0);
  #at = 0;
  #ended = false;

  constructor(fd: number, read: ReadFile) {
    this.#fd = fd;
    this.#read = read;
  }

  /** Returns the next bytes, valid until the next call. Returns undefined if fewer are left. */
  take(bytes: number): Buffer | undefined {
    while (this.#window.length - this.#at < bytes) if (!this.#fill(bytes)) return undefined;
    this.#at += bytes;
    return this.#window.subarray(this.#at - bytes, this.#at);
  }

  /** Reads more. The window grows with the bytes read, never with a length that a damaged file claims. */
  #fill(wanted: number): boolean {
    if (this.#ended) return false;
    const left = this.#window.subarray(this.#at);
    const more = Buffer.allocUnsafeSlow(Math.max(READ_BYTES, Math.min(wanted, 2 * left.length)));
    const bytes = this.#read(this.#fd, more, 0, more.length, null);
    this.#ended = bytes === 0;
    this.#window = Buffer.concat([left, more.subarray(0, bytes)]);
    this.#at = 0;
    return !this.#ended;
  }
}
