// @ts-check
// Takes from nginx what it has logged, and makes batches of it on the disk. nginx is told to open its log anew after each taking; what a
// worker still writes into a log that was taken is read on, until the log has been quiet for long.

import { truncateSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { countLines, linesOf } from './read-lines.mjs';
import { printLine } from './request-line.mjs';
import { SpooledFiles } from './spooled-files.mjs';

/**
 * @typedef {import('./spooled-files.mjs').Batch} Batch
 * @typedef {import('./spooled-files.mjs').Log & { quietSince: number }} Log
 * @typedef {'unreadable' | 'full'} Loss
 */

const EVERY_MS = 2_000;
/** While batches wait: fewer and larger ones are sooner told when the API is back. */
const EVERY_MS_WAITING = 30_000;
const MANY_WAITING = 10;
/** Workers write what they held back when they open another log: both are one batch. */
const QUIET_MS = 100;
/** A worker that has not heard in this time that its log is another answers nobody. */
const KEEP_MS = 120_000;
/** As long as nginx may hold back what it has to write. */
const SETTLED_MS = 5_000;
/** Of one batch; the API takes 300,000 lines and 64 MiB. */
const MOST_LINES = 10_000;
const MOST_BYTES = 4 * 1024 * 1024;

const pack = promisify(gzip);

export class CollectRequests {
  /** What can be sent, the oldest first. @type {Batch[]} */
  batches = [];
  /** @type {Batch | undefined} */
  #sending;
  /** @type {Log[]} */
  #logs = [];
  #taken = Number.NEGATIVE_INFINITY;
  /** Whether nginx has been told since a log was taken. */
  #isTold = false;

  /**
   * @param {string} folder
   * @param {{ mostBytes: number, reopen: () => boolean, onLost: (lines: number, why: Loss) => void, nowMs?: () => number }} options `mostBytes`: half of it for
   *   logs, half for batches
   */
  constructor(folder, { mostBytes, reopen, onLost, nowMs = () => performance.now() }) {
    this.files = new SpooledFiles(folder);
    this.most = Math.floor(mostBytes / 2);
    this.reopen = reopen;
    this.onLost = onLost;
    this.now = nowMs;
    this.files.clean();
    this.batches = this.files.batches();
    this.#logs = this.files.logs().map((log) => ({ ...log, quietSince: this.now() }));
  }

  get bytes() {
    return this.batches.reduce((sum, { size }) => sum + size, 0);
  }

  /** Takes what is new, and makes batches of all that stands in logs. What it throws is tried again by the next look. */
  async look() {
    const isSoon = this.batches.length < MANY_WAITING || (this.files.currentBytes() ?? 0) > this.most / 8;
    if (this.now() - this.#taken >= (isSoon ? EVERY_MS : EVERY_MS_WAITING)) this.#take();
    try {
      for (const log of [...this.#logs]) await this.#follow(log);
    } finally {
      await this.#boundLogs();
    }
  }

  /** The oldest, which is not dropped until it is `finish`ed or `putBack`. @returns {Batch | undefined} */
  next() {
    this.#sending = this.batches[0];
    return this.#sending;
  }

  putBack() {
    this.#sending = undefined;
  }

  /** @param {Batch} batch */
  finish(batch) {
    this.#sending = undefined;
    this.batches = this.batches.filter((each) => each !== batch);
    this.files.remove(batch.file);
  }

  #take() {
    this.#taken = this.now();
    const log = this.files.takeCurrent();
    if (log !== undefined) this.#logs.push({ ...log, quietSince: this.#taken });
    // Also at the beginning: an agent before may have been ended between the two. That there is a file says nothing: `nginx -t` makes one,
    // and nobody writes there.
    if (log !== undefined || !this.#isTold || this.files.currentBytes() === undefined)
      this.#isTold = this.reopen();
  }

  /** @param {Log} log */
  async #follow(log) {
    const { size } = (await stat(this.files.pathOf(log.file)).catch(() => undefined)) ?? {};
    if (size === undefined) return this.#forget(log);
    if (size !== log.size) Object.assign(log, { size, quietSince: this.now() });
    // Emptied by an agent that was ended before it could say so.
    if (size < log.done) return this.#renew(log);
    const quietMs = this.now() - log.quietSince;
    if (size > log.done && (quietMs >= QUIET_MS || size - log.done >= MOST_BYTES)) await this.#pack(log);
    if (quietMs < KEEP_MS || !this.#isTold) return;
    // A line that nginx did not end: the disk was full.
    if (size > log.done) this.onLost(1, 'unreadable');
    this.files.remove(log.file);
    this.#forget(log);
  }

  /** @param {Log} log */
  #forget(log) {
    this.#logs = this.#logs.filter((each) => each !== log);
  }

  /** @param {Log} log */
  #renew(log) {
    this.#forget(log);
    this.#logs.push({ ...this.files.renew(log), quietSince: this.now() });
  }

  /** Batch after batch: that octets are done is said once they stand in one. @param {Log} log */
  async #pack(log) {
    /** @type {string[]} */
    let lines = [];
    let bytes = 0;
    let done = log.done;
    let unreadable = 0;
    const write = async () => {
      if (done === log.done) return;
      const batch = lines.length === 0 ? undefined : await this.#write(log, lines);
      Object.assign(log, this.files.advance(log, done));
      if (batch !== undefined) this.batches.push(batch);
      this.onLost(unreadable, 'unreadable');
      lines = [];
      bytes = 0;
      unreadable = 0;
    };
    for await (const { text, end } of linesOf(this.files.pathOf(log.file), log.done, log.size)) {
      const line = text === undefined ? undefined : printLine(text);
      done = end;
      if (line === undefined) unreadable++;
      else {
        lines.push(line);
        bytes += line.length;
      }
      if (lines.length >= MOST_LINES || bytes >= MOST_BYTES) await write();
    }
    await write();
  }

  /**
   * @param {Log} log
   * @param {string[]} lines
   * @returns {Promise<Batch>}
   */
  async #write(log, lines) {
    const octets = await pack(`${lines.join('\n')}\n`, { level: 1 });
    const file = this.files.batchName(log, lines.length);
    const path = this.files.pathOf(file);
    for (;;) {
      this.#makeRoom(octets.length);
      try {
        await writeSynced(`${path}.new`, octets);
        await rename(`${path}.new`, path);
        return { file, id: log.id, ms: log.ms, from: log.done, lines: lines.length, size: octets.length };
      } catch (error) {
        await rm(`${path}.new`, { force: true });
        // Older ones make room on a disk that is full.
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOSPC' || !this.#dropOldest())
          throw error;
      }
    }
  }

  /** @param {number} bytes */
  #makeRoom(bytes) {
    let total = this.bytes + bytes;
    while (total > this.most) {
      const dropped = this.#dropOldest();
      if (dropped === undefined) return;
      total -= dropped.size;
    }
  }

  /** @returns {Batch | undefined} undefined: there is none but what is being sent */
  #dropOldest() {
    const oldest = this.batches.find((batch) => batch !== this.#sending);
    if (oldest === undefined) return undefined;
    this.batches = this.batches.filter((batch) => batch !== oldest);
    this.files.remove(oldest.file);
    this.onLost(oldest.lines, 'full');
    return oldest;
  }

  /** Logs that are read go before their time when they are too large; one that still grows begins anew. */
  async #boundLogs() {
    let total = this.#logs.reduce((sum, { size }) => sum + size, 0);
    for (const log of [...this.#logs]) {
      if (total <= this.most) return;
      total -= log.size;
      if (log.size > log.done) await this.#pack(log).catch(() => undefined);
      if (log.size > log.done) this.onLost(await countLines(this.files.pathOf(log.file), log), 'full');
      if (this.now() - log.quietSince > SETTLED_MS) {
        this.files.remove(log.file);
        this.#forget(log);
      } else {
        // nginx appends to it: what comes stands at its beginning.
        truncateSync(this.files.pathOf(log.file), 0);
        this.#renew(log);
      }
    }
  }
}

/** @param {string} path @param {Uint8Array} octets */
async function writeSynced(path, octets) {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(octets);
    await file.sync();
  } finally {
    await file.close();
  }
}
