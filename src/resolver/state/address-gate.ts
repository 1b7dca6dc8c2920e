// Decides whether a question may be sent to an address at all. Zone owners choose addresses, so an address that has not
// answered lately is asked rarely, over all workers, and a network gets only so many questions a second.
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

/** What came of a question. `given_up`: the check was over before the time of the question was. */
export type Asked = 'replied' | 'silent' | 'given_up' | 'not_sent';

export type Entry =
  /** A question may be sent. Call `done` when it is over. */
  { readonly kind: 'open'; readonly done: (asked: Asked) => void } | { readonly kind: 'barred' };

/** Where workers share what they know of addresses that may never have answered. */
export interface TrialSource {
  /** May the address be asked now? If so, the question counts. */
  ask(address: string): Promise<{ readonly kind: Trial['kind']; readonly waitMs?: number }>;
  /** A question is over, or the address has answered. */
  report(address: string, replied: boolean): void;
}

/** How many questions a second one network gets from all workers together: a /24 or a /48. */
export const NETWORK_QUESTIONS_PER_SECOND = 200;

interface GateOptions {
  readonly silences: Silences;
  /** Undefined: this process alone remembers. */
  readonly trials?: TrialSource;
  readonly networks?: { take(network: string, signal: AbortSignal): Promise<void> };
  /** Zones whose servers no customer chooses, such as public suffixes. */
  readonly isExempt?: (zone: Name) => boolean;
  readonly now: () => number;
}

const CAPACITY = 20_000;
/** How long an address that has answered is not asked about again; it is reported again after that. */
const PROVEN_MS = 3_600_000;
/** How long a check waits for the question that another one has open. */
const LONGEST_WAIT_MS = 7000;
const POLL_MS = 500;
/** How long it is not asked again whether an address may be asked: another process may have proven it meanwhile. */
const BARRED_MS = 5000;
const SOURCE_TIMEOUT_MS = 1000;

export class AddressGate {
  readonly #options: GateOptions;
  readonly #proven = new ExpiringCache<true>(CAPACITY);
  /** Addresses that may not be asked, until a time. */
  readonly #barred = new ExpiringCache<true>(CAPACITY);
  /** The trials of this process that are not over: whoever wants the address too waits for these. */
  readonly #open = new Map<string, Promise<void>>();
  readonly #source: TrialSource;
  /** What this process knows by itself, for while the others cannot be asked. */
  readonly #own: TrialSource;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#own = ownTrials(options.now);
    this.#source = options.trials ?? this.#own;
  }

  /** `fresh`: a remembered silence does not count. Rejects with the signal's reason when that aborts. */
  async enter(
    address: string,
    { zone, fresh, signal }: { readonly zone: Name; readonly fresh: boolean; readonly signal: AbortSignal },
  ): Promise<Entry> {
    const { silences, networks, isExempt, now } = this.#options;
    if (!fresh && silences.isSilent(address)) return { kind: 'barred' };
    // No customer chooses the servers of the root or of a public suffix: they need no trial, and no limit for their network.
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

  /** What it gives ends a trial that has begun. */
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

  /** Keeps others from asking meanwhile; the result ends that. */
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
      // Who gives up a question has heard nothing either.
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

/** What one process knows by itself. */
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

/** Resolves when the promise does, or after a time; rejects with the signal's reason when that aborts. */
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
