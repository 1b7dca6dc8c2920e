// Inserts the spool into the analytics store. Each batch is one insert with its own token, so that an insert that is
// repeated after a lost response counts once. While the store is unavailable, the pauses grow longer.

import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyBaseLogger } from 'fastify';
import { type Analytics, AnalyticsFault } from '../../analytics/open-analytics.ts';
import { createBackoff, pauseUnless } from '../../process/reconnect.ts';
import { MOST_ROW_BYTES, type Spool, type SpooledBatch } from './spool.ts';

const TABLE = 'requests';
/** Interval at which batches of ended processes on this machine are looked for. */
const IDLE_MS = 10_000;
/** A batch that the store refuses does not delay the others, and is retried later: the store may be at fault. */
const FIRST_REFUSAL_MS = 10_000;
const LONGEST_REFUSAL_MS = 600_000;
const TROUBLE_MS = 60_000;

interface FlushOptions {
  readonly spool: Spool;
  readonly analytics: Pick<Analytics, 'insert'>;
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  readonly onFlushed: (lines: number) => void;
}

interface Refusal {
  readonly afterMs: number;
  readonly untilMs: number;
}

export class SpoolFlusher {
  readonly #options: FlushOptions;
  readonly #stopping = new AbortController();
  readonly #refused = new Map<string, Refusal>();
  readonly #running: Promise<void>;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FlushOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Data that is not flushed stays on disk. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { spool } = this.#options;
    const backoff = createBackoff();
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const batch = spool.next(({ file }) => (this.#refused.get(file)?.untilMs ?? 0) <= performance.now());
      if (batch === undefined) {
        await spool.arrival(IDLE_MS, signal);
        if (!signal.aborted) await spool.adopt().catch((error: unknown) => this.#report(error));
        continue;
      }
      const fault = await this.#flush(batch);
      if (fault === undefined) backoff.reset();
      else await pauseUnless(signal, backoff.nextMs());
    }
  }

  /** Returns the error for which all batches have to wait. */
  async #flush(batch: SpooledBatch): Promise<unknown> {
    const { spool, analytics, onFlushed } = this.#options;
    const rows = await readRows(batch).catch((error: unknown) => ({ error }));
    if ('error' in rows) {
      this.#report(rows.error);
      await spool.damaged(batch);
      return undefined;
    }
    try {
      await analytics.insert(TABLE, Readable.from(parseRows(rows)), batch.id);
    } catch (error) {
      spool.leave(batch);
      this.#report(error);
      if (!(error instanceof AnalyticsFault) || error.kind !== 'refused') return error;
      const afterMs = Math.min(
        LONGEST_REFUSAL_MS,
        2 * (this.#refused.get(batch.file)?.afterMs ?? FIRST_REFUSAL_MS / 2),
      );
      this.#refused.set(batch.file, { afterMs, untilMs: performance.now() + afterMs });
      return undefined;
    }
    this.#refused.delete(batch.file);
    onFlushed(batch.lines);
    await spool.done(batch).catch((error: unknown) => this.#report(error)); // it will be inserted again, but counts once
    return undefined;
  }

  #report(error: unknown): void {
    if (performance.now() - this.#loggedAtMs < TROUBLE_MS) return;
    this.#loggedAtMs = performance.now();
    const { batches, bytes } = this.#options.spool;
    this.#options.log.warn({ err: error, batches, bytes }, 'requests of edges wait for the analytics store');
  }
}

async function readRows({ path }: SpooledBatch): Promise<Buffer> {
  return await promisify(gunzip)(await readFile(path), { maxOutputLength: MOST_ROW_BYTES });
}

/** Yields rows one by one, because all of them together would need much more memory as objects. */
function* parseRows(rows: Buffer): Generator<object> {
  for (let from = 0, to = 0; from < rows.length; from = to + 1) {
    to = rows.indexOf(10, from);
    if (to === -1) to = rows.length;
    if (to > from) yield JSON.parse(rows.toString('utf8', from, to));
  }
}
