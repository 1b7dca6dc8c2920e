// The log behind a snapshot's base file: entries with length and CRC, appended as they are applied. A tail that a crash
// tore, or that does not fit its CRC, ends it: what stands before is whole.
//
//   magic 8 · format 4 · CRC of the id 4 · id 16 · (length 4 · CRC 4 · entry)*          numbers little-endian

import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { openPlainFile, type ReadFile } from './plain-file.ts';
import { decodeEntry, encodeEntry, type SnapshotEntry } from './snapshot-entry.ts';

const MAGIC = Buffer.from('ZFLEETLG');
const FORMAT = 1;
export const LOG_ID_OCTETS = 16;
const HEAD_OCTETS = 16 + LOG_ID_OCTETS;
const ENTRY_HEAD_OCTETS = 8;
const FLUSH_OCTETS = 1 << 20;
const READ_OCTETS = 4 << 20;

export class SnapshotLog {
  readonly #file: string;
  #fd: number | undefined;
  #octets: number;
  #waiting: Uint8Array[] = [];
  #waitingOctets = 0;

  private constructor(file: string, fd: number | undefined, octets: number) {
    this.#file = file;
    this.#fd = fd;
    this.#octets = octets;
  }

  /** `id` is the id of the base. */
  static create(file: string, id: Uint8Array): SnapshotLog {
    const head = Buffer.alloc(HEAD_OCTETS);
    MAGIC.copy(head);
    head.writeUInt32LE(FORMAT, 8);
    head.writeUInt32LE(crc32(id), 12);
    head.set(id, 16);
    const fd = openSync(file, 'w', 0o600);
    writeWhole(fd, head);
    return new SnapshotLog(file, fd, HEAD_OCTETS);
  }

  /**
   * Goes on after the first `octets`, which are whole entries; what stands after them is cut off. The file is opened
   * only when there is an entry to write: until the node surely has its name, another process may be writing there.
   */
  static goOn(file: string, octets: number): SnapshotLog {
    return new SnapshotLog(file, undefined, octets);
  }

  /** The length of the log, including what waits to be written. */
  get octets(): number {
    return this.#octets + this.#waitingOctets;
  }

  append(entry: SnapshotEntry): void {
    const payload = encodeEntry(entry);
    const head = Buffer.allocUnsafe(ENTRY_HEAD_OCTETS);
    head.writeUInt32LE(payload.length, 0);
    head.writeUInt32LE(crc32(payload), 4);
    this.#waiting.push(head, payload);
    this.#waitingOctets += ENTRY_HEAD_OCTETS + payload.length;
    if (this.#waitingOctets >= FLUSH_OCTETS) this.flush();
  }

  /** Hands what waits to the system: a crash of this process then loses nothing of it. */
  flush(): void {
    if (this.#waitingOctets === 0) return;
    const octets = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingOctets = 0;
    this.#fd ??= this.#open();
    writeWhole(this.#fd, octets, this.#octets);
    this.#octets += octets.length;
  }

  #open(): number {
    const fd = openSync(this.#file, 'r+');
    ftruncateSync(fd, this.#octets);
    return fd;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  remove(): void {
    this.close();
    unlinkSync(this.#file);
  }
}

function writeWhole(fd: number, octets: Uint8Array, position = 0): void {
  for (let at = 0; at < octets.length; ) {
    at += writeSync(fd, octets, at, octets.length - at, position + at);
  }
}

/** Calls `apply` for each whole entry and returns where they end; undefined when this is not the log of that base. */
export function readLog(
  file: string,
  id: Uint8Array,
  apply: (entry: SnapshotEntry) => void,
  read: ReadFile = readSync,
): number | undefined {
  const fd = openPlainFile(file);
  try {
    const input = new LogInput(fd, read);
    const head = input.take(HEAD_OCTETS);
    const isOurs =
      head?.subarray(0, 8).equals(MAGIC) && head.readUInt32LE(8) === FORMAT && head.subarray(16).equals(id);
    if (!isOurs) return undefined;
    for (let end = HEAD_OCTETS; ; ) {
      const entryHead = input.take(ENTRY_HEAD_OCTETS);
      if (entryHead === undefined) return end;
      const octets = entryHead.readUInt32LE(0);
      const crc = entryHead.readUInt32LE(4);
      const payload = input.take(octets);
      if (payload === undefined || crc32(payload) !== crc || octets === 0) return end;
      apply(decodeEntry(payload));
      end += ENTRY_HEAD_OCTETS + octets;
    }
  } finally {
    closeSync(fd);
  }
}

/** A file read from its beginning, through a window. */
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

  /** The next octets, valid until the next call; undefined when fewer are left. */
  take(octets: number): Buffer | undefined {
    while (this.#window.length - this.#at < octets) if (!this.#fill(octets)) return undefined;
    this.#at += octets;
    return this.#window.subarray(this.#at - octets, this.#at);
  }

  /** Reads more. The window grows with what is read, never with the length that a damaged file claims. */
  #fill(wanted: number): boolean {
    if (this.#ended) return false;
    const left = this.#window.subarray(this.#at);
    const more = Buffer.allocUnsafeSlow(Math.max(READ_OCTETS, Math.min(wanted, 2 * left.length)));
    const octets = this.#read(this.#fd, more, 0, more.length, null);
    this.#ended = octets === 0;
    this.#window = Buffer.concat([left, more.subarray(0, octets)]);
    this.#at = 0;
    return !this.#ended;
  }
}
