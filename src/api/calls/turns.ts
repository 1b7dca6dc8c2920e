// Runs the writes of each domain, or the searches of each account, one at a time, so that a busy one occupies one connection
// of the pool instead of all, or two while one commits. Calls that wait too long, or too many calls, are refused. If
// PostgreSQL fails one, those behind it fail too: each would wait as long for PostgreSQL.

import { DatabaseSilence } from '../../store/postgres/bounded-client.ts';
import { outageOf } from '../../store/postgres/outage.ts';

export class NoTurn extends Error {
  override readonly name = 'NoTurn';
}

export interface TurnLimits {
  readonly waitMs: number;
  /** Maximum number of calls that wait for one domain. */
  readonly waiting: number;
}

const LIMITS: TurnLimits = { waitMs: 8000, waiting: 100 };

interface Waiting {
  begin(): void;
  fail(error: Error): void;
}

export class Turns {
  readonly #limits: TurnLimits;
  /** The waiting calls of each busy domain, in order. */
  readonly #queues = new Map<number, Set<Waiting>>();

  constructor(limits: TurnLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Number of domains that have work now. */
  get busy(): number {
    return this.#queues.size;
  }

  /**
   * Runs the work in the order of the calls, even if earlier work failed. The next work begins after it, or when it calls
   * `leave`.
   */
  async run<T>(domainId: number, work: (leave: () => void) => Promise<T>): Promise<T> {
    const queue = this.#queues.get(domainId);
    if (queue === undefined) this.#queues.set(domainId, new Set());
    else await this.#waitIn(queue);
    let hasLeft = false;
    const leave = () => {
      if (!hasLeft) this.#leave(domainId);
      hasLeft = true;
    };
    try {
      return await work(leave);
    } catch (error) {
      const outage = outageOf(error);
      if (outage === 'silent' || outage === 'unreachable') this.#failAll(domainId, error as Error);
      throw error;
    } finally {
      leave();
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
    // Each call gets its own error. The error of the first call may say that the outcome of its commit is unknown.
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
