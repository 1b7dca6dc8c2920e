// A stream of edits at a steady rate until it is stopped. It stores the last written values, and can measure the time until
// one is answered.

import { onEnd } from '../cleanup.ts';
import type { EditWriter, RecordEdit } from './edit-records.ts';
import type { AnswerWatch } from './watch-answers.ts';

export interface StreamOptions {
  /** Ended when the stream ends. */
  readonly writer: EditWriter;
  /** The zone and owner of the n-th edit; both with the final dot. */
  readonly target: (n: number) => { zone: string; owner: string };
  readonly transactionsPerSecond: number;
  /** Zones in one transaction. */
  readonly editsEach: number;
  /** Number of concurrent transactions. Default: 1. */
  readonly atOnce?: number;
  /** Receives the times of each edit. */
  readonly watch?: AnswerWatch;
}

export interface StreamResult {
  readonly edits: number;
  readonly seconds: number;
  /** From the moment the edit was sent, and from its commit, until it was answered. */
  readonly sinceSentMs: readonly number[];
  readonly sinceCommitMs: readonly number[];
}

export class EditStream {
  /** Last written address by owner name. */
  readonly written = new Map<string, Buffer>();
  readonly #options: StreamOptions;
  readonly #sinceSentMs: number[] = [];
  readonly #sinceCommitMs: number[] = [];
  readonly #startedMs = performance.now();
  readonly #done: Promise<void>;
  #count = 0;
  #stops = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const undo = onEnd(() => options.writer.end());
    this.#done = this.#run().finally(undo);
    this.#done.catch(() => {}); // stop() reports it
  }

  async stop(): Promise<StreamResult> {
    this.#stops = true;
    const seconds = (performance.now() - this.#startedMs) / 1000;
    await this.#done;
    return {
      edits: this.#count,
      seconds,
      sinceSentMs: this.#sinceSentMs,
      sinceCommitMs: this.#sinceCommitMs,
    };
  }

  /** Makes up for late edits, so that the rate is correct on average. */
  async #run(): Promise<void> {
    const { transactionsPerSecond, editsEach, atOnce = 1 } = this.#options;
    const underWay = new Set<Promise<void>>();
    for (let turn = 0; !this.#stops; turn++) {
      const dueMs = this.#startedMs + (turn * 1000) / transactionsPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const edits = Array.from({ length: editsEach }, () => this.#nextEdit());
      const done: Promise<void> = this.#edit(edits).finally(() => underWay.delete(done));
      underWay.add(done);
      if (underWay.size >= atOnce) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  #nextEdit(): RecordEdit {
    const n = this.#count++;
    const { zone, owner } = this.#options.target(n);
    const address = Buffer.alloc(4);
    address.writeUInt32BE((0x0a000000 + (n & 0xffffff)) >>> 0); // 10.0.0.0/8
    this.written.set(owner, address);
    return { zone, owner, address };
  }

  async #edit(edits: readonly RecordEdit[]): Promise<void> {
    const { watch, writer } = this.#options;
    const sentMs = performance.now();
    const answered = edits.map(({ owner, address }) => watch?.untilAnswered(owner, address));
    await writer.write(edits);
    const committedMs = performance.now();
    for (const time of answered) {
      void time?.then((atMs) => {
        this.#sinceSentMs.push(atMs - sentMs);
        this.#sinceCommitMs.push(Math.max(0, atMs - committedMs));
      });
    }
  }
}
