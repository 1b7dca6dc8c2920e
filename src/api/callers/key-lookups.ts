// Asks Postgres which key, or which session, a hash is of. Every answer is as fresh as the request: what is remembered is only which hashes
// were keys, and these have a statement of their own, at once. All others share statements, a bounded number a second, so
// that wrong keys cost Postgres the same however many there are; the first use of a new key is one of these and waits for
// its statement, a few hundredths of a second at most.

import { setTimeout as pause } from 'node:timers/promises';

const STATEMENTS_PER_SECOND = 20;
const MAX_HASHES = 1000;
const MAX_REMEMBERED = 50_000;

/** `state`: whether it is valid now. */
interface Found {
  readonly state: string;
}

type Load<F> = (hashes: readonly Buffer[]) => Promise<ReadonlyMap<string, F>>;

interface Waiting<F> {
  readonly hash: Buffer;
  readonly answers: {
    readonly resolve: (found: F | undefined) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

export class KeyLookups<F extends Found> {
  readonly #load: Load<F>;
  readonly #nowMs: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #known = new Set<string>();
  /** The hashes that wait; their number is bounded by the connections, each of which has one request at a time. */
  readonly #waiting = new Map<string, Waiting<F>>();
  #isWorking = false;
  #spentUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    load: Load<F>,
    nowMs: () => number = () => performance.now(),
    wait: (ms: number) => Promise<unknown> = (ms) => pause(ms),
  ) {
    this.#load = load;
    this.#nowMs = nowMs;
    this.#pause = wait;
  }

  async find(hash: Buffer): Promise<F | undefined> {
    const text = hash.toString('hex');
    const found = this.#known.has(text)
      ? (await this.#load([hash])).get(text)
      : await new Promise<F | undefined>((resolve, reject) => {
          const waiting = this.#waiting.get(text) ?? { hash, answers: [] };
          waiting.answers.push({ resolve, reject });
          this.#waiting.set(text, waiting);
          if (!this.#isWorking) void this.#work();
        });
    if (found?.state === 'valid') this.#remember(text);
    else this.#known.delete(text);
    return found;
  }

  #remember(text: string): void {
    this.#known.delete(text); // the set is in the order of use: the oldest entry goes first
    this.#known.add(text);
    if (this.#known.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.size > 0) {
      await this.#takeTurn();
      const batch = [...this.#waiting.entries()].slice(0, MAX_HASHES);
      for (const [text] of batch) this.#waiting.delete(text);
      try {
        const found = await this.#load(batch.map(([, { hash }]) => hash));
        for (const [text, { answers }] of batch) for (const { resolve } of answers) resolve(found.get(text));
      } catch (error) {
        for (const [, { answers }] of batch) for (const { reject } of answers) reject(error);
      }
    }
    this.#isWorking = false;
  }

  /** The statements of one second may come at once; after that they are evenly spaced. */
  async #takeTurn(): Promise<void> {
    const nowMs = this.#nowMs();
    const costMs = 1000 / STATEMENTS_PER_SECOND;
    this.#spentUntilMs = Math.max(this.#spentUntilMs, nowMs - 1000) + costMs;
    if (this.#spentUntilMs > nowMs) await this.#pause(this.#spentUntilMs - nowMs);
  }
}
