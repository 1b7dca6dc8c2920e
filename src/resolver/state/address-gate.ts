// Decides whether a query may be sent to an address at all. Zone owners choose addresses, so all workers together query an
// address rarely until it has answered, and each network gets a limited number of queries per second.
//
//   silent lately ──> barred
//   answered today ──> the limit of its network ──> open
//   else: one question at a time ──> go ──> open, and the reply proves the address
//                                └──> too many ──> barred

import { type AddressMemory, afterTrial, judgeTrial, type Trial } from '../../checks/shares/silence.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import { networkOf } from './address-rules.ts';
import type { Silences } from './silences.ts';

/** Result of a query. `given_up`: the check ended before the query's timeout. */
export type Asked = 'replied' | 'silent' | 'given_up' | 'not_sent';

export type Entry =
  /** A query may be sent. Call `done` when it has ended. */
  { readonly kind: 'open'; readonly done: (asked: Asked) => void } | { readonly kind: 'barred' };

/** Shares the workers' knowledge about addresses that may never have answered. */
export interface TrialSource {
  /** Decides whether the address may be queried now. If so, the query counts. */
  ask(address: string): Promise<{ readonly kind: Trial['kind']; readonly waitMs?: number }>;
  /** Reports that a query has ended, or that the address has answered. */
  report(address: string, replied: boolean): void;
}

/** Maximum number of queries per second to one network, a /24 or /48, from all workers together. */
export const NETWORK_QUESTIONS_PER_SECOND = 200;

interface GateOptions {
  readonly silences: Silences;
  /** Undefined if only this process keeps the state. */
  readonly trials?: TrialSource;
  readonly networks?: { take(network: string, signal: AbortSignal): Promise<void> };
  /** Returns true for zones whose servers customers cannot choose, such as public suffixes. */
  readonly isExempt?: (zone: Name) => boolean;
  readonly now: () => number;
}

const CAPACITY = 20_000;
/** How long an address that has answered is used without a trial, and then reported again. */
const PROVEN_MS = 3_600_000;
/** How long a check waits for another check's open query. */
const LONGEST_WAIT_MS = 7000;
const POLL_MS = 500;
/** How long a refusal is cached. Another process may have proven the address since then. */
const BARRED_MS = 5000;
const SOURCE_TIMEOUT_MS = 1000;

export class AddressGate {
  readonly #options: GateOptions;
  readonly #proven = new ExpiringCache<true>(CAPACITY);
  /** Addresses that may not be queried until a given time. */
  readonly #barred = new ExpiringCache<true>(CAPACITY);
  /** This process's open trials. Other checks of the same address wait for these. */
  readonly #open = new Map<string, Promise<void>>();
  readonly #source: TrialSource;
  /** This process's own knowledge, used while the shared source is unavailable. */
  readonly #own: TrialSource;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#own = ownTrials(options.now);
    this.#source = options.trials ?? this.#own;
  }

  /** `fresh`: ignore remembered timeouts. Rejects with the signal's reason when that aborts. */
  async enter(
    address: string,
    { zone, fresh, signal }: { readonly zone: Name; readonly fresh: boolean; readonly signal: AbortSignal },
  ): Promise<Entry> {
    const { silences, networks, isExempt, now } = this.#options;
    if (!fresh && silences.isSilent(address)) return { kind: 'barred' };
    // Customers do not choose the servers of the root or of a public suffix, so these need no trial and no network limit.
    const isChosen = zone !== ROOT && isExempt?.(zone) !== true;
    if (isChosen && this.#proven.get(address, now()) === undefined) {
      const trial = await this.#try(address, signal);
      if (trial === 'barred') return { kind: 'barred' };
      if (trial !== 'proven') return { kind: 'open', done: trial };
    }
    if (isChosen) await networks?.take(networkOf(address), signal);
    return { kind: 'open', done: (asked) => this.#end(address, asked) };
  }

  #end(address: string, asked: Asked): void {
    const { silences } = this.#options;
    if (asked === 'replied') silences.noteReply(address);
    if (asked === 'silent') silences.noteSilence(address);
  }

  /** If it returns a function, a trial has begun, and the function ends it. */
  async #try(address: string, signal: AbortSignal): Promise<'proven' | 'barred' | ((asked: Asked) => void)> {
    const { now } = this.#options;
    const begun = now();
    for (;;) {
      signal.throwIfAborted();
      if (this.#proven.get(address, now()) !== undefined) return 'proven';
      if (Math.abs(now() - begun) > LONGEST_WAIT_MS) return 'barred';
      const open = this.#open.get(address);
      if (open !== undefined) {
        await waitFor(open, LONGEST_WAIT_MS, signal);
        continue;
      }
      if (this.#barred.get(address, now()) !== undefined) return 'barred';
      const done = this.#begin(address);
      const trial = await this.#ask(address);
      if (trial.kind === 'go') return done;
      done('not_sent');
      if (trial.kind === 'proven') this.#proven.set(address, true, now() + PROVEN_MS);
      else if ((trial.waitMs ?? 0) <= LONGEST_WAIT_MS) await waitFor(undefined, POLL_MS, signal);
      else this.#barred.set(address, true, now() + Math.min(BARRED_MS, trial.waitMs ?? 0));
    }
  }

  /** Blocks other queries to the address until the returned function is called with the result. */
  #begin(address: string): (asked: Asked) => void {
    let end = () => {};
    this.#open.set(
      address,
      new Promise((resolve) => {
        end = resolve;
      }),
    );
    return (asked) => {
      this.#open.delete(address);
      // A query that was given up has no reply either.
      if (asked !== 'not_sent') this.#endTrial(address, asked === 'replied');
      end();
    };
  }

  #endTrial(address: string, replied: boolean): void {
    if (replied) {
      this.#proven.set(address, true, this.#options.now() + PROVEN_MS);
      this.#options.silences.noteReply(address);
    }
    this.#own.report(address, replied);
    if (this.#source !== this.#own) this.#source.report(address, replied);
  }

  async #ask(address: string): ReturnType<TrialSource['ask']> {
    try {
      return await within(SOURCE_TIMEOUT_MS, this.#source.ask(address));
    } catch {
      return await this.#own.ask(address);
    }
  }
}

/** Returns a source that knows only the queries of this process. */
function ownTrials(now: () => number): TrialSource {
  const known = new ExpiringCache<AddressMemory>(CAPACITY);
  const keptMs = 86_400_000;
  const put = (address: string, memory: AddressMemory) => known.set(address, memory, now() + keptMs);
  return {
    async ask(address) {
      const trial = judgeTrial(known.get(address, now()), now());
      if (trial.kind === 'go') put(address, trial.memory);
      return trial;
    },
    report(address, replied) {
      put(address, afterTrial(known.get(address, now()), replied, now()));
    },
  };
}

/** Resolves when the promise does or after a timeout. Rejects with the signal's reason when that aborts. */
function waitFor(promise: Promise<void> | undefined, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const go = () => {
      clearTimeout(timer);
      unwatchAbort(signal, over);
      resolve();
    };
    const timer = setTimeout(go, ms);
    watchAbort(signal, over);
    void promise?.then(go);
  });
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer in time')), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
