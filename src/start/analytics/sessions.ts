// The engine's connections. Each runs one statement at a time, and each kind of work has its own, so that long queries do
// not delay inserts and pings. A statement ends when it is done or after its `max_execution_time`; it cannot be cancelled.

import { Refusal } from './refusal.ts';

/** The part of the package `chdb` that this program uses. */
export interface EngineSession {
  queryAsync(sql: string, options: { format: string }): Promise<{ text(): string }>;
  close(): void;
}

const MOST_WAITING = 64;

export class Sessions {
  readonly #free: EngineSession[];
  readonly #all: readonly EngineSession[];
  readonly #waiting: ((session: EngineSession) => void)[] = [];

  constructor(sessions: readonly EngineSession[]) {
    this.#all = sessions;
    this.#free = [...sessions];
  }

  /** Waits for a free connection. `gone`: aborted when the caller disconnects, which ends the wait. */
  async use<T>(gone: AbortSignal, work: (session: EngineSession) => Promise<T>): Promise<T> {
    const session = await this.#take(gone);
    try {
      gone.throwIfAborted();
      return await work(session);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(session);
      else next(session);
    }
  }

  close(): void {
    if (this.#free.length < this.#all.length) return; // closing a busy connection would wait for it
    for (const session of this.#all) session.close();
  }

  async #take(gone: AbortSignal): Promise<EngineSession> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#waiting.length >= MOST_WAITING)
      throw new Refusal('TOO_MANY_SIMULTANEOUS_QUERIES', `${MOST_WAITING} statements are already waiting`);
    return await new Promise<EngineSession>((done, fail) => {
      this.#waiting.push(done);
      const leave = () => {
        const at = this.#waiting.indexOf(done);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        fail(gone.reason);
      };
      gone.addEventListener('abort', leave, { once: true });
    });
  }
}
