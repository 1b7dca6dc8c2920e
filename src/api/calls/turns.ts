// Runs one piece of work at a time for each domain. Writes of a domain wait for each other at its lock in Postgres in any case;
// because they wait here, a busy domain holds one connection of the pool and not all of them. Each wait is bounded: a call that
// waits too long, or arrives when too many wait, is refused. If Postgres fails a call, the calls behind it fail too, because each
// would wait for Postgres as long as that one did.

import { DatabaseSilence } from '../../store/postgres/bounded-client.ts';
import { outageOf } from '../../store/postgres/outage.ts';

export class NoTurn extends Error {
  override readonly name = 'NoTurn';
}

export interface TurnLimits {
  readonly waitMs: number;
  /** How many pieces of work may wait for one domain. */
  readonly waiting: number;
}

const LIMITS: TurnLimits = { waitMs: 8000, waiting: 100 };

interface Waiting {
  begin(): void;
  fail(error: Error): void;
}

export class Turns {
  readonly #limits: TurnLimits;
  /** For each domain that has work, those that wait, in order. */
  readonly #queues = new Map<number, Set<Waiting>>();

  constructor(limits: TurnLimits = LIMITS) {
    this.#limits = limits;
  }

  /** How many domains have work now. */
  get busy(): number {
    return this.#queues.size;
  }

  /** Runs work in the order of the calls, even when the work before failed. */
  async run<T>(domainId: number, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(domainId);
    if (queue === undefined) this.#queues.set(domainId, new Set());
    else await this.#waitIn(queue);
    try {
      return await work();
    } catch (error) {
      const outage = outageOf(error);
      if (outage === 'silent' || outage === 'unreachable') this.#failAll(domainId, error as Error);
      throw error;
    } finally {
      this.#leave(domainId);
    }
  }

  async #waitIn(queue: Set<Waiting>): Promise<void> {
    const { waitMs, waiting } = this.#limits;
    if (queue.size >= waiting) throw new NoTurn(`${queue.size} writes of the domain wait`);
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        queue.delete(waiting);
        reject(error);
      };
      const waiting = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        fail,
      };
      const timer = setTimeout(
        () => fail(new NoTurn(`earlier writes of the domain took longer than ${waitMs} ms`)),
        waitMs,
      );
      queue.add(waiting);
    });
  }

  #failAll(domainId: number, { message }: Error): void {
    // An error of their own: that of the first may say that its commit has an unknown outcome.
    for (const { fail } of this.#queues.get(domainId) ?? []) fail(new DatabaseSilence(message));
  }

  #leave(domainId: number): void {
    const queue = this.#queues.get(domainId) as Set<Waiting>;
    const [next] = queue;
    if (next === undefined) {
      this.#queues.delete(domainId);
      return;
    }
    queue.delete(next);
    next.begin();
  }
}
