// Limits the messages that wait for the transfer thread, so that forged ones cannot delay it. The threads that receive
// over UDP check each message before they post it. All counts are in shared memory.

import { type Client, isLoopback } from '../answer/client.ts';
import { TokenBuckets } from '../answer/token-buckets.ts';
import type { PeerNetwork } from '../transfer/messages.ts';

/** The memory of SlowPathLimit. */
export interface SlowPathMemory {
  readonly words: SharedArrayBuffer;
  /** The memory of TokenBuckets, one per network. */
  readonly buckets: SharedArrayBuffer;
}

/** Reasons for dropping a message, and their positions among the words. */
const DROPPED = { octets: 1, network: 2, thread: 3, waiting: 4, unanswered: 5 } as const;
type SlowPathDrop = keyof typeof DROPPED;

/** Dynamic updates, of which the transfer thread keeps up to 1,000 for seconds, leave space for other messages. */
const MAX_WAITING = 2048;
/** Fewer over UDP, so that forged messages leave space for those over TCP. */
const MAX_WAITING_UDP = 1536;
const MAX_PER_SECOND = 5000;
/**
 * For all clients that are not exempt. The other threads spend ten times as much on a message as a UDP thread on a query:
 * above this rate, a flood of forged messages would cost more than the same flood of queries.
 */
const MAX_UNKNOWN_PER_SECOND = 200;
const MAX_PER_NETWORK_PER_SECOND = 100;
/** Signed queries and NOTIFY take some hundred octets. A longer message over UDP is not answered. */
const MAX_UDP_OCTETS = 4096;
const BUCKET_SETS = 1 << 12;
/** A network with a shorter prefix is not exempt: it would exempt the sources of forged messages. */
const MIN_EXEMPT_PREFIX = { ipv4: 16, ipv6: 32 } as const;

const WAITING = 0;
const NETWORKS = 6;
const NETWORKS_AT = 16;
const MAX_NETWORKS = 1024;
/** The length of the addresses in octets, the prefix, and the address. */
const NETWORK_WORDS = 6;
const WORDS = NETWORKS_AT + MAX_NETWORKS * NETWORK_WORDS;

export class SlowPathLimit {
  readonly memory: SlowPathMemory;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #buckets: TokenBuckets;
  // The rates of this thread.
  readonly #all = new Rate(MAX_PER_SECOND);
  readonly #unknown = new Rate(MAX_UNKNOWN_PER_SECOND);

  /** @param memory memory of another thread's limit; by default the limit has memory of its own */
  constructor(memory?: SlowPathMemory) {
    const words = memory?.words ?? new SharedArrayBuffer(WORDS * 4);
    const rate = MAX_PER_NETWORK_PER_SECOND;
    this.#buckets = new TokenBuckets(rate, rate, BUCKET_SETS, memory?.buckets);
    this.memory = { words, buckets: this.#buckets.buffer };
    this.#words = new Int32Array(words);
    this.#bytes = new Uint8Array(words);
  }

  /**
   * Returns true if a message of `octets` octets from this client over UDP may be posted to the main thread, and counts
   * it as waiting. The rate of the network is checked first, so that one network cannot use up the rate of the thread.
   */
  admit(client: Client, octets: number, nowMs: number): boolean {
    if (octets > MAX_UDP_OCTETS) return this.drop('octets');
    const exceeded = this.#exceededBy(client, nowMs);
    if (exceeded !== undefined && !this.#isExempt(client)) return this.drop(exceeded);
    if (!this.#all.take(nowMs)) return this.drop('thread');
    return this.enter(MAX_WAITING_UDP);
  }

  /** Counts one more waiting message. Returns false if too many wait. */
  enter(most: number = MAX_WAITING): boolean {
    if (Atomics.add(this.#words, WAITING, 1) < most) return true;
    this.leave();
    return this.drop('waiting');
  }

  /** Counts one waiting message less: it is answered or forgotten. */
  leave(): void {
    Atomics.sub(this.#words, WAITING, 1);
  }

  get waiting(): number {
    return Atomics.load(this.#words, WAITING);
  }

  /** Counts a dropped message. Returns false. */
  drop(reason: SlowPathDrop): false {
    Atomics.add(this.#words, DROPPED[reason], 1);
    return false;
  }

  /** Numbers of dropped messages by reason. */
  get dropped(): Readonly<Record<SlowPathDrop, number>> {
    const count = (reason: SlowPathDrop) => Atomics.load(this.#words, DROPPED[reason]) >>> 0;
    return {
      octets: count('octets'),
      network: count('network'),
      thread: count('thread'),
      waiting: count('waiting'),
      unanswered: count('unanswered'),
    };
  }

  /**
   * Exempts these networks from the limits of clients, except large ones and those above MAX_NETWORKS. While they are
   * written, a thread may read a mixture of two networks, which affects only single messages.
   */
  exempt(networks: readonly PeerNetwork[]): void {
    const words = this.#words;
    const exempt = networks.filter(isSmall).slice(0, MAX_NETWORKS);
    for (const [i, { address, prefix }] of exempt.entries()) {
      const at = NETWORKS_AT + i * NETWORK_WORDS;
      words[at] = address.length;
      words[at + 1] = prefix;
      this.#bytes.set(address, (at + 2) * 4);
    }
    Atomics.store(words, NETWORKS, exempt.length);
  }

  /** Returns the limit for clients that are not exempt that this message exceeds. */
  #exceededBy(client: Client, nowMs: number): 'network' | 'thread' | undefined {
    if (isLoopback(client.address, client.at, client.octets)) return undefined;
    const buckets = this.#buckets;
    const at = buckets.findNetwork(client, nowMs | 0);
    const tokens = buckets.tokens(at, nowMs | 0);
    buckets.setTokens(at, tokens < 1 ? tokens : tokens - 1, nowMs | 0);
    if (tokens < 1) return 'network';
    return this.#unknown.take(nowMs) ? undefined : 'thread';
  }

  #isExempt({ address, at, octets }: Client): boolean {
    const words = this.#words;
    const end = NETWORKS_AT + Atomics.load(words, NETWORKS) * NETWORK_WORDS;
    for (let network = NETWORKS_AT; network < end; network += NETWORK_WORDS) {
      if (words[network] !== octets) continue;
      if (this.#isWithin(address, at, (network + 2) * 4, words[network + 1] as number)) return true;
    }
    return false;
  }

  #isWithin(address: Uint8Array, at: number, network: number, prefix: number): boolean {
    const whole = prefix >> 3;
    for (let i = 0; i < whole; i++) if (address[at + i] !== this.#bytes[network + i]) return false;
    const rest = prefix & 7;
    if (rest === 0) return true;
    const differing = (address[at + whole] as number) ^ (this.#bytes[network + whole] as number);
    return differing >> (8 - rest) === 0;
  }
}

/** Limits messages per second, with a burst of one second. */
class Rate {
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
  }

  /** Returns false if the rate is exceeded. */
  take(nowMs: number): boolean {
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(this.#perSecond, this.#tokens + (elapsedMs * this.#perSecond) / 1000);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

function isSmall({ address, prefix }: PeerNetwork): boolean {
  return prefix >= (address.length === 4 ? MIN_EXEMPT_PREFIX.ipv4 : MIN_EXEMPT_PREFIX.ipv6);
}
