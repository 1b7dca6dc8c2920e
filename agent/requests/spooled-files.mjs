// @ts-check
// The folder of what is to be told of requests, and what the names in it say. Everything that has to outlive the agent is a name, which
// changes at once or not at all:
//
//     requests.log                     nginx writes
//     MS-ID-DONE.log                   taken from nginx at that time; so many octets of it stand in batches
//     MS-ID-FROM-LINES.gz              a batch of it that begins there; `ID-FROM` is its Batch-Id
//     ….new                            half written: it goes
//
// A batch may be sent once its log's name says that it stands in one: before that the log may still grow, and the batch is made anew.

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
    /** nginx's own. */
    this.current = join(folder, 'requests.log');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  }

  /** Only what can be sent. */
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

  /** The oldest first. @returns {Log[]} */
  logs() {
    return this.#find(LOG, (file, [ms = '', id = '', done], size) => ({
      file,
      id,
      ms: Number(ms),
      done: Number(done),
      size,
    }));
  }

  /** The oldest first. @returns {Batch[]} */
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

  /** Takes from nginx what it has written; it goes on writing there until it is told. @returns {Log | undefined} */
  takeCurrent() {
    return sizeOf(this.current) ? this.#renamed(this.current) : undefined;
  }

  /** Undefined: nginx has no log. */
  currentBytes() {
    return sizeOf(this.current);
  }

  /**
   * Says how much of it stands in batches.
   * @param {Log} log
   * @param {number} done
   * @returns {Log}
   */
  advance(log, done) {
    const file = `${pad(log.ms, 13)}-${log.id}-${done}.log`;
    renameSync(join(this.folder, log.file), join(this.folder, file));
    return { ...log, file, done };
  }

  /** As a log that begins anew: its octets are to be told under other ids. @param {Log} log */
  renew(log) {
    return this.#renamed(join(this.folder, log.file));
  }

  /** Of the next batch of a log. @param {Log} log @param {number} lines */
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
