// Which networks have sent wrong keys lately. Beyond the limit a wrong key gets a 429 and, repeated within a second,
// does not reach Postgres. Right keys are never limited by it, even from a network that sends wrong keys. A key that
// was not presented in the last second is never refused from memory, so a new one works at once.

import { networkOf } from '../../process/http/connections.ts';

const WRONG_KEYS_A_MINUTE = 30;
const WINDOW_MS = 60_000;
const REMEMBERED_MS = 1000;
const MAX_NETWORKS = 10_000;
const MAX_HASHES = 10_000;

export class WrongKeys {
  readonly #nowMs: () => number;
  readonly #networks = new Map<string, { count: number; readonly endsAtMs: number }>();
  readonly #wrongAtMs = new Map<string, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Seconds to wait if this key need not be looked up again. */
  judge(address: string, hash: Buffer): number | undefined {
    const wrongAtMs = this.#wrongAtMs.get(hash.toString('hex')) ?? Number.NEGATIVE_INFINITY;
    return this.#nowMs() - wrongAtMs < REMEMBERED_MS ? this.#secondsToWait(networkOf(address)) : undefined;
  }

  /** Records that this key was wrong. Gives seconds to wait if the network is beyond its limit. */
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
    keepBelow(this.#wrongAtMs, MAX_HASHES).set(text, nowMs);
    return this.#secondsToWait(network);
  }

  /** How many entries are remembered, for tests. */
  get size(): number {
    return this.#networks.size + this.#wrongAtMs.size;
  }

  #secondsToWait(network: string): number | undefined {
    const { count, endsAtMs } = this.#networks.get(network) ?? { count: 0, endsAtMs: 0 };
    const leftMs = endsAtMs - this.#nowMs();
    return leftMs > 0 && count > WRONG_KEYS_A_MINUTE ? Math.ceil(leftMs / 1000) : undefined;
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
