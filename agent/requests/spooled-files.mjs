// @ts-check
// The folder of requests that wait to be reported. All state that must survive the agent is in file names, which change atomically:
//
//     requests.log                     written by nginx
//     MS-ID-DONE.log                   rotated at that time; DONE octets of it are in batches
//     MS-ID-FROM-LINES.gz              a batch that begins at FROM; `ID-FROM` is its Batch-Id
//     ….new                            incomplete, to be deleted
//
// A batch may be sent after its log's name includes it in DONE. Until then the log may grow, and the batch is written again.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ file: string, id: string, ms: number, done: number, size: number }} Log
 * @typedef {{ file: string, id: string, ms: number, from: number, lines: number, size: number }} Batch
 */

const LOG = /^([0-9]{13})-([0-9a-f]{16})-([0-9]{1,15})\.log$/;
const BATCH = /^([0-9]{13})-([0-9a-f]{16})-([0-9]{15})-([0-9]{1,9})\.gz$/;

export class SpooledFiles {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    /** The log that nginx writes. */
    this.current = join(folder, 'requests.log');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  }

  /** Lists only batches that can be sent. */
  clean() {
    const logs = new Map(this.logs().map((log) => [log.id, log]));
    for (const name of readdirSync(this.folder)) {
      if (name.endsWith('.new')) rmSync(join(this.folder, name), { force: true });
    }
    for (const { id, from, file } of this.batches()) {
      const log = logs.get(id);
      if (log !== undefined && from >= log.done) this.remove(file);
    }
  }

  /** Sorted oldest first. @returns {Log[]} */
  logs() {
    return this.#find(LOG, (file, [ms = '', id = '', done], size) => ({
      file,
      id,
      ms: Number(ms),
      done: Number(done),
      size,
    }));
  }

  /** Sorted oldest first. @returns {Batch[]} */
  batches() {
    return this.#find(BATCH, (file, [ms = '', id = '', from, lines], size) => ({
      file,
      id,
      ms: Number(ms),
      from: Number(from),
      lines: Number(lines),
      size,
    }));
  }

  /** Rotates nginx's log, in which it keeps writing until it reopens it. @returns {Log | undefined} */
  takeCurrent() {
    return sizeOf(this.current) ? this.#renamed(this.current) : undefined;
  }

  /** Undefined if nginx has no log. */
  currentBytes() {
    return sizeOf(this.current);
  }

  /** Records how much of the log is in batches. @param {Log} log @param {number} done @returns {Log} */
  advance(log, done) {
    const file = `${pad(log.ms, 13)}-${log.id}-${done}.log`;
    renameSync(join(this.folder, log.file), join(this.folder, file));
    return { ...log, file, done };
  }

  /** Gives the log a new id, so that its octets are reported under other batch ids. @param {Log} log */
  renew(log) {
    return this.#renamed(join(this.folder, log.file));
  }

  /** Returns the path of a log's next batch. @param {Log} log @param {number} lines */
  batchName({ ms, id, done }, lines) {
    return `${pad(ms, 13)}-${id}-${pad(done, 15)}-${lines}.gz`;
  }

  /** @param {string} file */
  pathOf(file) {
    return join(this.folder, file);
  }

  /** @param {string} file */
  remove(file) {
    rmSync(join(this.folder, file), { force: true });
  }

  /** @param {string} path @returns {Log} */
  #renamed(path) {
    const ms = Date.now();
    const id = randomBytes(8).toString('hex');
    const file = `${pad(ms, 13)}-${id}-0.log`;
    renameSync(path, join(this.folder, file));
    return { file, id, ms, done: 0, size: 0 };
  }

  /**
   * @template T
   * @param {RegExp} pattern
   * @param {(file: string, parts: string[], size: number) => T} read
   * @returns {T[]}
   */
  #find(pattern, read) {
    return readdirSync(this.folder)
      .sort()
      .flatMap((file) => {
        const [, ...parts] = pattern.exec(file) ?? [];
        const size = parts.length === 0 ? undefined : sizeOf(join(this.folder, file));
        return size === undefined ? [] : [read(file, parts, size)];
      });
  }
}

/** @param {number} number @param {number} digits */
function pad(number, digits) {
  return String(number).padStart(digits, '0');
}

/** @param {string} path */
function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
