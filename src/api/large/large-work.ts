// Handles large calls in threads, which start when they are needed and end when they are not; each call gets a place in
// one of them in its turn. A thread that fails ends the call that it handles, and no other.

import type { ResourceLimits } from 'node:worker_threads';
import { boundSignal } from '../../process/bound-signal.ts';
import { type Problem, unavailable } from '../answers/problem.ts';
import { BodyRoom } from '../body/body-room.ts';
import type { LargeAnswer, ThreadSettings } from './large-call.ts';
import { type PlacesSize, WorkPlaces } from './work-places.ts';
import { type LargeOrder, WorkThread } from './work-thread.ts';

const MIB = 1024 * 1024;
const RETRY_SECONDS = 5;

interface LargeWorkOptions extends PlacesSize {
  readonly roomBytes: number;
  readonly roomBytesOfOne: number;
  /** A call that waits longer gives up. */
  readonly waitMs: number;
  /** How long a call may be handled: after that it is given up, and its thread is ended. */
  readonly workMs: number;
  /** How many threads stay without work: starting one takes half a second. */
  readonly standby: number;
  /** Any other thread without work for this long ends. */
  readonly idleMs: number;
  /** The limits of each thread. */
  readonly limits: ResourceLimits;
}

const DEFAULTS: LargeWorkOptions = {
  places: 2,
  waiting: 32,
  waitingOfOne: 2,
  roomBytes: 256 * MIB,
  roomBytesOfOne: 64 * MIB,
  waitMs: 60_000,
  workMs: 120_000,
  standby: 1,
  idleMs: 30_000,
  limits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 },
};

/** Waits for the domain's other writes. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export class LargeWork {
  /** The memory for bodies that arrive or wait. */
  readonly room: BodyRoom;
  readonly #settings: ThreadSettings;
  readonly #options: LargeWorkOptions;
  readonly #places: WorkPlaces;
  readonly #threads = new Set<WorkThread>();
  /** The threads without work, and when they end; undefined: they stay. */
  readonly #idle = new Map<WorkThread, NodeJS.Timeout | undefined>();

  constructor(settings: ThreadSettings, options: Partial<LargeWorkOptions> = {}) {
    this.#settings = settings;
    this.#options = { ...DEFAULTS, ...options };
    const { roomBytes, roomBytesOfOne } = this.#options;
    this.#places = new WorkPlaces(this.#options);
    this.room = new BodyRoom({ bytes: roomBytes, bytesOfOne: roomBytesOfOne });
  }

  get state(): { readonly threads: number; readonly working: number; readonly waiting: number } {
    return { threads: this.#threads.size, working: this.#places.working, waiting: this.#places.waiting };
  }

  /** Rejects with the error that a handler throws. */
  async answer(order: LargeOrder, inTurn: InTurn): Promise<LargeAnswer | Problem> {
    const { admitted } = order.call;
    const entered = await this.#places.enter({
      accountId: admitted.caller.account.id,
      domainId: admitted.domain?.id,
      gone: boundSignal(order.gone, this.#options.waitMs),
    });
    if (entered.kind === 'full') return unavailable('too many large requests wait; try again', RETRY_SECONDS);
    if (entered.kind === 'gone')
      return unavailable('the request has waited too long; try again', RETRY_SECONDS);
    try {
      return await inTurn(() => this.#work(order));
    } finally {
      entered.leave();
    }
  }

  /** Starts the threads that stay. */
  prepare(): void {
    while (this.#threads.size < this.#options.standby) this.#keepThread(this.#startThread());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  async #work(order: LargeOrder): Promise<LargeAnswer | Problem> {
    const thread = this.#takeThread();
    try {
      return await thread.answer(order, this.#options.workMs);
    } finally {
      if (!thread.hasEnded) this.#keepThread(thread);
    }
  }

  #takeThread(): WorkThread {
    const [idle] = this.#idle.keys();
    if (idle !== undefined) {
      clearTimeout(this.#idle.get(idle));
      this.#idle.delete(idle);
      return idle;
    }
    return this.#startThread();
  }

  #startThread(): WorkThread {
    const thread = new WorkThread(this.#settings, this.#options.limits);
    this.#threads.add(thread);
    void thread.ended.then(() => {
      clearTimeout(this.#idle.get(thread));
      this.#idle.delete(thread);
      this.#threads.delete(thread);
    });
    return thread;
  }

  #keepThread(thread: WorkThread): void {
    const staying = [...this.#idle.values()].filter((end) => end === undefined).length;
    if (staying < this.#options.standby) {
      this.#idle.set(thread, undefined);
      return;
    }
    const end = setTimeout(() => {
      this.#idle.delete(thread);
      thread.end();
    }, this.#options.idleMs);
    this.#idle.set(thread, end.unref());
  }
}
