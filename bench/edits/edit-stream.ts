// A stream of edits at a steady rate until it is told to stop: what was written last is remembered, and the time until it
// is answered can be taken.

import { Client } from 'pg';
import { onEnd } from '../cleanup.ts';
import { editRecords, type RecordEdit } from './edit-records.ts';
import type { AnswerWatch } from './watch-answers.ts';

export interface StreamOptions {
  readonly url: string;
  /** The zone and owner of the n-th edit; both with the final dot. */
  readonly target: (n: number) => { zone: string; owner: string };
  readonly transactionsPerSecond: number;
  /** Zones in one transaction. */
  readonly editsEach: number;
  /** Takes the times of each edit. */
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
  /** By owner: the address written last. */
  readonly written = new Map<string, Buffer>();
  readonly #options: StreamOptions;
  readonly #client: Client;
  readonly #sinceSentMs: number[] = [];
  readonly #sinceCommitMs: number[] = [];
  readonly #startedMs = performance.now();
  readonly #done: Promise<void>;
  #count = 0;
  #stops = false;

  static async start(options: StreamOptions): Promise<EditStream> {
    const client = new Client({ connectionString: options.url });
    await client.connect();
    return new EditStream(options, client);
  }

  private constructor(options: StreamOptions, client: Client) {
    this.#options = options;
    this.#client = client;
    const undo = onEnd(() => client.end());
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

  /** One transaction after the other; one that is late is made up for, so that the rate holds on average. */
  async #run(): Promise<void> {
    const { transactionsPerSecond, editsEach } = this.#options;
    for (let turn = 0; !this.#stops; turn++) {
      const dueMs = this.#startedMs + (turn * 1000) / transactionsPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await this.#edit(Array.from({ length: editsEach }, () => this.#nextEdit()));
    }
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
    const { watch } = this.#options;
    const sentMs = performance.now();
    const answered = edits.map(({ owner, address }) => watch?.untilAnswered(owner, address));
    await editRecords(this.#client, edits);
    const committedMs = performance.now();
    for (const time of answered) {
      void time?.then((atMs) => {
        this.#sinceSentMs.push(atMs - sentMs);
        this.#sinceCommitMs.push(Math.max(0, atMs - committedMs));
      });
    }
  }
}
