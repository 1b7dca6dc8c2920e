// Limits the queries per second to one address over all workers. Tokens are leased in chunks from a shared source, so that
// most queries need no round trip. Without such a source, or while it fails, each worker applies a local limit.
//
//   tokens left ──> take immediately
//   none ──> wait in line; one request at a time ──> granted ──> the line moves on
//                                              ├──> none granted ──> again after `retryAfterMs`
//                                              └──> fails, or is silent ──> a local share for a while

import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';

/** Maximum number of queries per second to one address from all workers together (docs/rules.md "Delegation check"). */
export const QUESTIONS_PER_SECOND = 50;

export interface LeaseSource {
  /** Grants at most `wanted` tokens for queries to the address. If it grants 0, also returns when to ask again. */
  lease(address: string, wanted: number): Promise<{ granted: number; retryAfterMs: number }>;
}

const CHUNKS_PER_SECOND = 5;
const MIN_CHUNK = 5;
/** Tokens unused for this long are given up, and the address is forgotten. */
const KEPT_MS = 10_000;
const LEASE_TIMEOUT_MS = 1000;
/** How long a failed source is not used. */
const FALLBACK_MS = 5000;
/** Fraction of the rate that one worker uses while the workers cannot coordinate. */
const FALLBACK_SHARE = 0.25;
const MIN_RETRY_MS = 5;
const MAX_RETRY_MS = 5000;

interface Waiter {
  readonly resolve: () => void;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

interface AddressState {
  readonly address: string;
  tokens: number;
  /** Start of the period for which the local limit refills `tokens`. */
  filledAt: number;
  usedAt: number;
  /** Waiters in order of arrival. */
  readonly waiters: Set<Waiter>;
  /** The timer or lease that will serve the waiters. */
  pending: NodeJS.Timeout | 'lease' | undefined;
}

const AT_ONCE = Promise.resolve();

export class AddressRates {
  readonly #perSecond: number;
  readonly #chunk: number;
  readonly #source: LeaseSource | undefined;
  readonly #now: () => number;
  readonly #states = new Map<string, AddressState>();
  #sweptAt: number;
  #failedAt = Number.NEGATIVE_INFINITY;

  /** `now` returns milliseconds. */
  constructor(perSecond: number, source: LeaseSource | undefined, now: () => number) {
    if (!(perSecond > 0)) throw new RangeError('perSecond must be greater than 0');
    this.#perSecond = perSecond;
    this.#chunk = Math.ceil(Math.min(perSecond, Math.max(MIN_CHUNK, perSecond / CHUNKS_PER_SECOND)));
    this.#source = source;
    this.#now = now;
    this.#sweptAt = now();
  }

  /** Number of tracked addresses. */
  get size(): number {
    return this.#states.size;
  }

  /** Resolves when a query may be sent to the address. Rejects with the signal's reason when it aborts. */
  take(address: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const at = this.#now();
    const state = this.#stateOf(address, at);
    if (state.waiters.size === 0) {
      if (this.#isLocal(at)) this.#fill(state, at);
      if (state.tokens >= 1) {
        state.tokens--;
        return AT_ONCE;
      }
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        state.waiters.delete(waiter);
        if (state.waiters.size === 0) this.#stopTimer(state);
        reject(signal.reason);
      };
      const waiter: Waiter = { signal, resolve, onAbort };
      watchAbort(signal, onAbort);
      state.waiters.add(waiter);
      this.#supply(state);
    });
  }

  #stateOf(address: string, at: number): AddressState {
    const known = this.#states.get(address);
    if (known !== undefined) {
      if (at - known.usedAt >= KEPT_MS) known.tokens = 0;
      known.usedAt = at;
      return known;
    }
    this.#sweep(at);
    const state: AddressState = {
      address,
      tokens: 0,
      filledAt: Number.NEGATIVE_INFINITY, // the local limit starts full
      usedAt: at,
      waiters: new Set(),
      pending: undefined,
    };
    this.#states.set(address, state);
    return state;
  }

  #sweep(at: number): void {
    if (Math.abs(at - this.#sweptAt) < KEPT_MS) return;
    this.#sweptAt = at;
    for (const [address, { usedAt, waiters, pending }] of this.#states) {
      const isIdle = waiters.size === 0 && pending === undefined && Math.abs(at - usedAt) >= KEPT_MS;
      if (isIdle) this.#states.delete(address);
    }
  }

  /** True if each worker currently limits itself. If the clock is set back, this still ends soon. */
  #isLocal(at: number): boolean {
    return this.#source === undefined || Math.abs(at - this.#failedAt) < FALLBACK_MS;
  }

  #localPerMs(): number {
    return (this.#perSecond * (this.#source === undefined ? 1 : FALLBACK_SHARE)) / 1000;
  }

  #fill(state: AddressState, at: number): void {
    const most = this.#source === undefined ? this.#chunk : Math.max(1, this.#chunk * FALLBACK_SHARE);
    const filled = state.tokens + Math.max(0, at - state.filledAt) * this.#localPerMs();
    state.tokens = Math.max(state.tokens, Math.min(most, filled));
    state.filledAt = at;
  }

  /** Ensures that the waiters will be served. */
  #supply(state: AddressState): void {
    if (state.pending !== undefined) return;
    const at = this.#now();
    const isLocal = this.#isLocal(at);
    if (isLocal) this.#fill(state, at);
    this.#serve(state);
    if (state.waiters.size === 0) return;
    if (isLocal) this.#supplyIn(state, Math.ceil((1 - state.tokens) / this.#localPerMs()));
    else this.#lease(state);
  }

  #supplyIn(state: AddressState, waitMs: number): void {
    state.pending = setTimeout(() => {
      state.pending = undefined;
      this.#supply(state);
    }, waitMs);
  }

  #stopTimer(state: AddressState): void {
    if (state.pending === undefined || state.pending === 'lease') return;
    clearTimeout(state.pending);
    state.pending = undefined;
  }

  #serve(state: AddressState): void {
    for (const waiter of state.waiters) {
      if (state.tokens < 1) return;
      state.tokens--;
      state.waiters.delete(waiter);
      unwatchAbort(waiter.signal, waiter.onAbort);
      waiter.resolve();
    }
  }

  #lease(state: AddressState): void {
    state.pending = 'lease';
    const wanted = Math.min(Math.ceil(this.#perSecond), Math.max(this.#chunk, state.waiters.size));
    let isOver = false;
    const end = (lease: { granted: number; retryAfterMs: number } | undefined) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      state.pending = undefined;
      this.#receive(state, wanted, lease);
    };
    const timer = setTimeout(end, LEASE_TIMEOUT_MS, undefined);
    leaseFrom(this.#source as LeaseSource, state.address, wanted).then(end, () => end(undefined));
  }

  #receive(
    state: AddressState,
    wanted: number,
    lease: { granted: number; retryAfterMs: number } | undefined,
  ): void {
    if (lease === undefined || !(lease.granted >= 0)) {
      this.#failedAt = this.#now();
      this.#supply(state);
      return;
    }
    const granted = Math.floor(Math.min(lease.granted, wanted));
    state.tokens += granted;
    this.#serve(state);
    if (state.waiters.size === 0) return;
    const retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, lease.retryAfterMs || 0));
    if (granted > 0) this.#supply(state);
    else this.#supplyIn(state, retryMs);
  }
}

/** Treats a source that throws like one that rejects. */
async function leaseFrom(
  source: LeaseSource,
  address: string,
  wanted: number,
): ReturnType<LeaseSource['lease']> {
  return source.lease(address, wanted);
}
