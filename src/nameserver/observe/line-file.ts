// Appends lines to a file that may be full, missing or renamed. Lines that cannot be written are dropped and counted,
// and no line is split: the rest of a line that was written in part is written before the next lines.

import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Log } from '../../process/reconnect.ts';

const LINE_END = 0x0a;
/** Readable, to check how the file ends. Non-blocking, because a pipe may be full. */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOCTTY;
const MODE = 0o640;
const RETRY_OPEN_MS = 1000;
const LOG_INTERVAL_MS = 60_000;
const NOTHING = Buffer.alloc(0);
const OPEN_FAILED = 'QUERY_LOG: the file cannot be opened, and lines are dropped until it can';
const REOPEN_FAILED = 'QUERY_LOG: the file cannot be opened again, and lines go to the old file until it can';

export class LineFile {
  readonly #path: string;
  readonly #countDropped: (lines: number) => void;
  readonly #log: Log;
  readonly #now: () => number;
  #file: number | undefined;
  #mustOpen = true;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  /** The rest of a line that was written in part. */
  #rest: Buffer = NOTHING;
  /** True if the log says that lines are dropped. */
  #isReported = false;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    path: string,
    countDropped: (lines: number) => void,
    log: Log,
    now: () => number = () => performance.now(),
  ) {
    this.#path = path;
    this.#countDropped = countDropped;
    this.#log = log;
    this.#now = now;
    this.#open();
  }

  /** Opens the file again, for example because it was renamed. Until that succeeds, the old file is used. */
  reopen(): void {
    this.#mustOpen = true;
    this.#open();
  }

  /** Appends lines, each with its end. The octets may change afterwards. */
  write(lines: Buffer): void {
    if (this.#mustOpen && this.#now() - this.#triedAtMs >= RETRY_OPEN_MS) this.#open();
    const left = this.#file === undefined ? lines : this.#append(this.#file, lines);
    if (left.length === 0) return;
    this.#countDropped(left.reduce((count, octet) => count + (octet === LINE_END ? 1 : 0), 0));
  }

  close(): void {
    if (this.#file === undefined) return;
    this.#append(this.#file, NOTHING);
    if (this.#rest.length > 0) this.#countDropped(1);
    this.#rest = NOTHING;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): void {
    this.#triedAtMs = this.#now();
    try {
      const opened = openSync(this.#path, FLAGS, MODE);
      this.close();
      // A process that ended while the disk was full may have left a part of a line.
      this.#rest = endsInLine(opened) ? NOTHING : Buffer.of(LINE_END);
      this.#file = opened;
      this.#mustOpen = false;
    } catch (error) {
      this.#report(error, this.#file === undefined ? OPEN_FAILED : REOPEN_FAILED);
    }
  }

  /** Returns the lines that could not be written. */
  #append(file: number, lines: Buffer): Buffer {
    if (this.#rest.length > 0 && isTruncated(file)) {
      this.#rest = NOTHING;
      this.#countDropped(1);
    }
    const rest = this.#rest.length;
    const octets = rest === 0 ? lines : Buffer.concat([this.#rest, lines]);
    let at = 0;
    try {
      while (at < octets.length) at += writeSync(file, octets, at);
      if (this.#isReported && !this.#mustOpen) {
        this.#isReported = false;
        this.#log.info({ path: this.#path }, 'QUERY_LOG: lines are written again');
      }
    } catch (error) {
      this.#report(error, 'QUERY_LOG: the file cannot be written, and lines are dropped until it can');
    }
    const isWithinLine = at > 0 && at < octets.length && octets[at - 1] !== LINE_END;
    const lineEnd = at === 0 ? rest : isWithinLine ? octets.indexOf(LINE_END, at) + 1 : at;
    this.#rest = Buffer.from(octets.subarray(at, lineEnd));
    return octets.subarray(lineEnd);
  }

  #report(error: unknown, message: string): void {
    const nowMs = this.#now();
    if (nowMs - this.#loggedAtMs < LOG_INTERVAL_MS) return;
    this.#isReported = true;
    this.#loggedAtMs = nowMs;
    this.#log.error({ path: this.#path, uid: process.getuid?.(), err: error }, message);
  }
}

/** Returns true if someone has emptied the file, for example because the disk is full. */
function isTruncated(file: number): boolean {
  const stats = fstatSync(file);
  return stats.isFile() && stats.size === 0;
}

/** Returns true if the file is empty, is not a file, or ends in a whole line. */
function endsInLine(file: number): boolean {
  const stats = fstatSync(file);
  if (!stats.isFile() || stats.size === 0) return true;
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, stats.size - 1) === 0 || last[0] === LINE_END;
}
