// Waits until there is a job for an observer elsewhere. One look into Postgres in a fifth of a second serves all calls of this
// process that wait.

import type { Database } from '../../store/postgres/database.ts';
import { vantagesWithJobs } from '../../store/vantage/vantage-jobs.ts';

const POLL_MS = 200;
/** How many calls of one vantage may wait: it needs one, and one more after its connection broke. */
const MOST_CALLS = 4;

interface Call {
  readonly vantage: string;
  end(outcome: 'there' | 'over'): void;
  fail(error: unknown): void;
}

class JobWatch {
  readonly #db: Database;
  readonly #calls = new Set<Call>();
  #isLooking = false;

  constructor(db: Database) {
    this.#db = db;
  }

  wait(vantage: string, timeoutMs: number, gone: AbortSignal): Promise<'there' | 'over' | 'too_many'> {
    const own = [...this.#calls].filter((call) => call.vantage === vantage);
    if (own.length >= MOST_CALLS) return Promise.resolve('too_many');
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', over);
        this.#calls.delete(call);
      };
      const over = () => call.end('over');
      const timer = setTimeout(over, timeoutMs);
      const call: Call = {
        vantage,
        end(outcome) {
          leave();
          resolve(outcome);
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      gone.addEventListener('abort', over);
      this.#calls.add(call);
      if (gone.aborted) return over();
      if (!this.#isLooking) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#calls.size > 0) {
      const asking = [...this.#calls];
      try {
        const there = new Set(
          await vantagesWithJobs(this.#db, [...new Set(asking.map(({ vantage }) => vantage))]),
        );
        for (const call of asking) if (this.#calls.has(call) && there.has(call.vantage)) call.end('there');
      } catch (error) {
        for (const call of asking) if (this.#calls.has(call)) call.fail(error);
      }
      if (this.#calls.size > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isLooking = false;
  }
}

const watches = new WeakMap<Database, JobWatch>();

/** `there`: another call may still take it first. `over`: the time is over, or the caller has gone. */
export function waitForVantageJob(
  db: Database,
  vantage: string,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<'there' | 'over' | 'too_many'> {
  const watch = watches.get(db) ?? new JobWatch(db);
  watches.set(db, watch);
  return watch.wait(vantage, timeoutMs, gone);
}
