// Looks up API keys and sessions by hash. Every result is as fresh as the request. Only hashes of known keys get
// their own statements. All others share a bounded number of statements per second, so that the cost of wrong keys
// for PostgreSQL is bounded. Networks that sent many wrong keys get a 429, which never affects valid keys.

import { setTimeout as pause } from 'node:timers/promises';
import { networkOf } from '../../process/http/connections.ts';

const STATEMENTS_PER_SECOND = 20;
const MAX_HASHES = 1000;
const MAX_REMEMBERED = 50_000;

/** `state` shows whether the key is valid now. */
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
  /** Hashes that wait for a lookup. The connections bound their number, because each has one request at a time. */
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
    this.#known.delete(text); // the set is in the order of use, so the oldest entry is removed first
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

  /** Waits until a statement may run. Those of one second may run in a burst, later ones evenly spaced. */
  async #takeTurn(): Promise<void> {
    const nowMs = this.#nowMs();
    const costMs = 1000 / STATEMENTS_PER_SECOND;
    this.#spentUntilMs = Math.max(this.#spentUntilMs, nowMs - 1000) + costMs;
    if (this.#spentUntilMs > nowMs) await this.#pause(this.#spentUntilMs - nowMs);
  }
}

const WRONG_KEYS_PER_MINUTE = 30;
const WINDOW_MS = 60_000;
const REMEMBERED_MS = 1000;
const MAX_NETWORKS = 10_000;
const MAX_WRONG_HASHES = 10_000;

/**
 * The networks that recently sent wrong keys. If a network is beyond the limit, a wrong key that it repeats within a
 * second does not reach PostgreSQL. A key that was not presented in the last second is always looked up, so a new key
 * works immediately.
 */
export class WrongKeys {
  readonly #nowMs: () => number;
  readonly #networks = new Map<string, { count: number; readonly endsAtMs: number }>();
  readonly #wrongAtMs = new Map<string, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Returns the number of seconds to wait if this key need not be looked up again. */
  judge(address: string, hash: Buffer): number | undefined {
    const wrongAtMs = this.#wrongAtMs.get(hash.toString('hex')) ?? Number.NEGATIVE_INFINITY;
    return this.#nowMs() - wrongAtMs < REMEMBERED_MS ? this.#secondsToWait(networkOf(address)) : undefined;
  }

  /** Records that this key was wrong. Returns the number of seconds to wait if the network is beyond its limit. */
  note(address: string, hash: Buffer): number | undefined {
    const nowMs = this.#nowMs();
    const network = networkOf(address);
    const before = this.#networks.get(network);
    if (before !== undefined && before.endsAtMs > nowMs) before.count++;
    else {
      this.#networks.delete(network);
      keepBelow(this.#networks, MAX_NETWORKS).set(network, { count: 1, endsAtMs: nowMs + WINDOW_MS });
    }
    const text = hash.toString('hex');
    this.#wrongAtMs.delete(text);
    keepBelow(this.#wrongAtMs, MAX_WRONG_HASHES).set(text, nowMs);
    return this.#secondsToWait(network);
  }

  /** Number of stored entries, for tests. */
  get size(): number {
    return this.#networks.size + this.#wrongAtMs.size;
  }

  #secondsToWait(network: string): number | undefined {
    const { count, endsAtMs } = this.#networks.get(network) ?? { count: 0, endsAtMs: 0 };
    const leftMs = endsAtMs - this.#nowMs();
    return leftMs > 0 && count > WRONG_KEYS_PER_MINUTE ? Math.ceil(leftMs / 1000) : undefined;
  }
}

/** Removes the oldest entries. */
function keepBelow<K, V>(map: Map<K, V>, size: number): Map<K, V> {
  for (const [oldest] of map) {
    if (map.size < size) break;
    map.delete(oldest);
  }
  return map;
}
