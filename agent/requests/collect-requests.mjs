// @ts-check
// Takes nginx's request log and converts it to batches on disk. After each rotation nginx reopens its log. Workers may still write to
// a rotated log, so it is read until it has been quiet for long enough.

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
/** Interval while batches wait: fewer, larger batches are sent sooner when the API is available again. */
const EVERY_MS_WAITING = 30_000;
const MANY_WAITING = 10;
/** Workers flush their buffers when they reopen the log; this delay puts both parts into one batch. */
const QUIET_MS = 100;
/** A worker that has not reopened the log after this time is stuck. */
const KEEP_MS = 120_000;
/** Maximum time for which nginx buffers log lines. */
const SETTLED_MS = 5_000;
/** Limits of one batch. The API accepts 300,000 lines and 64 MiB. */
const MOST_LINES = 10_000;
const MOST_BYTES = 4 * 1024 * 1024;

const pack = promisify(gzip);

export class CollectRequests {
  /** Batches that can be sent, oldest first. @type {Batch[]} */
  batches = [];
  /** @type {Batch | undefined} */
  #sending;
  /** @type {Log[]} */
  #logs = [];
  #taken = Number.NEGATIVE_INFINITY;
  /** True if nginx has reopened its log since the last rotation. */
  #isTold = false;

  /**
   * @param {string} folder
   * @param {{ mostBytes: number, reopen: () => boolean, onLost: (lines: number, why: Loss) => void, nowMs?: () => number }} options half of
   *   `mostBytes` is for logs, half for batches
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

  /** Rotates the log and converts all logs to batches. After an error, the next call continues. */
  async look() {
    const isSoon = this.batches.length < MANY_WAITING || (this.files.currentBytes() ?? 0) > this.most / 8;
    if (this.now() - this.#taken >= (isSoon ? EVERY_MS : EVERY_MS_WAITING)) this.#take();
    try {
      for (const log of [...this.#logs]) await this.#follow(log);
    } finally {
      await this.#boundLogs();
    }
  }

  /** Returns the oldest batch, which is not dropped until `finish` or `putBack`. @returns {Batch | undefined} */
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
    // Also at the start: a previous agent may have ended between rotation and reopening. The file alone proves nothing, because
    // `nginx -t` creates one.
    if (log !== undefined || !this.#isTold || this.files.currentBytes() === undefined)
      this.#isTold = this.reopen();
  }

  /** @param {Log} log */
  async #follow(log) {
    const { size } = (await stat(this.files.pathOf(log.file)).catch(() => undefined)) ?? {};
    if (size === undefined) return this.#forget(log);
    if (size !== log.size) Object.assign(log, { size, quietSince: this.now() });
    // A previous agent emptied the log and ended before it recorded that.
    if (size < log.done) return this.#renew(log);
    const quietMs = this.now() - log.quietSince;
    if (size > log.done && (quietMs >= QUIET_MS || size - log.done >= MOST_BYTES)) await this.#pack(log);
    if (quietMs < KEEP_MS || !this.#isTold) return;
    // nginx did not complete the line because the disk was full.
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

  /** Writes one batch after another. Octets are recorded as done only after their batch is written. @param {Log} log */
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

  /** @param {Log} log @param {string[]} lines @returns {Promise<Batch>} */
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
        // Deletes old batches if the disk is full.
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

  /** @returns {Batch | undefined} undefined if only the batch that is being sent is left */
  #dropOldest() {
    const oldest = this.batches.find((batch) => batch !== this.#sending);
    if (oldest === undefined) return undefined;
    this.batches = this.batches.filter((batch) => batch !== oldest);
    this.files.remove(oldest.file);
    this.onLost(oldest.lines, 'full');
    return oldest;
  }

  /** Deletes converted logs early if they are too large, and empties one that still grows. */
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
        // nginx appends, so new lines are written at the beginning of the emptied file.
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
