// @ts-check
// Reports the requests that nginx has served: sends batches from the disk one after another, each with the same id until it is
// accepted. Lost requests are counted and logged.

import { readFile } from 'node:fs/promises';
import { Backoff, pause } from '../backoff.mjs';
import { Refused } from '../edge-client.mjs';
import { CollectRequests } from './collect-requests.mjs';

const LOOK_MS = 200;
/** Statuses of batches that the API will never accept. */
const HOPELESS = [400, 413, 415, 422];
const MOST_WAIT_MS = 300_000;
const SAY_MS = 10_000;

/** @typedef {{ accepted: number, dropped: { line: number, time: number, host: number } }} Taken */

export class RequestReport {
  /** Numbers of lost lines by reason, until they are logged. @type {Map<string, number>} */
  #lost = new Map();
  #saidMs = Number.NEGATIVE_INFINITY;

  /**
   * @param {string} folder
   * @param {{
   *   mostBytes: number,
   *   reopen: () => boolean,
   *   send: (batch: string, octets: Uint8Array, stopped: AbortSignal) => Promise<Taken>,
   *   log: (text: string) => void,
   * }} options
   */
  constructor(folder, { mostBytes, reopen, send, log }) {
    this.send = send;
    this.log = log;
    this.collected = new CollectRequests(folder, {
      mostBytes,
      reopen,
      onLost: (lines, why) =>
        this.#lose(lines, why === 'full' ? 'reportDisk is full' : 'the log line is not readable'),
    });
  }

  /** @param {AbortSignal} stopped */
  async run(stopped) {
    await Promise.all([this.#collect(stopped), this.#tell(stopped)]);
    this.#say(true);
  }

  /** @param {AbortSignal} stopped */
  async #collect(stopped) {
    const backoff = new Backoff(LOOK_MS, 30_000);
    while (!stopped.aborted) {
      try {
        await this.collected.look();
        backoff.reset();
        await pause(LOOK_MS, stopped);
      } catch (error) {
        this.log(`could not collect requests: ${error instanceof Error ? error.message : error}`);
        await backoff.wait(stopped);
      }
      this.#say();
    }
  }

  /** @param {AbortSignal} stopped */
  async #tell(stopped) {
    const backoff = new Backoff();
    while (!stopped.aborted) {
      const batch = this.collected.next();
      if (batch === undefined) {
        await pause(LOOK_MS, stopped);
        continue;
      }
      try {
        const octets = await readFile(this.collected.files.pathOf(batch.file));
        const { dropped } = await this.send(`${batch.id}-${batch.from}`, octets, stopped);
        this.collected.finish(batch);
        backoff.reset();
        this.#lose(dropped.line, 'not taken');
        this.#lose(dropped.time, 'too old');
      } catch (error) {
        if (stopped.aborted) return;
        if (isGone(error) || (error instanceof Refused && HOPELESS.includes(error.status))) {
          this.collected.finish(batch);
          this.#lose(
            batch.lines,
            error instanceof Refused ? `the API answered ${error.status}` : 'file gone',
          );
          continue;
        }
        this.collected.putBack();
        this.log(`could not send requests, will retry: ${error instanceof Error ? error.message : error}`);
        const afterMs = error instanceof Refused ? Math.min(error.retryMs, MOST_WAIT_MS) : 0;
        if (afterMs > 0) await pause(afterMs, stopped);
        else await backoff.wait(stopped);
      }
    }
  }

  /** @param {number} lines @param {string} why */
  #lose(lines, why) {
    if (lines > 0) this.#lost.set(why, (this.#lost.get(why) ?? 0) + lines);
  }

  #say(isLast = false) {
    if (this.#lost.size === 0 || (!isLast && performance.now() - this.#saidMs < SAY_MS)) return;
    this.#saidMs = performance.now();
    for (const [why, lines] of this.#lost) this.log(`${lines} requests were lost: ${why}`);
    this.#lost.clear();
  }
}

/** @param {unknown} error */
function isGone(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT';
}
