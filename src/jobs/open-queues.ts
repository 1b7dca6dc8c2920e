// Opens queues for processes that inspect them, each at its first use.

import type { QueuePlace } from './connection.ts';
import { JobQueue } from './job-queue.ts';

export class OpenQueues {
  readonly #place: QueuePlace;
  readonly #names: readonly string[];
  readonly #opened = new Map<string, JobQueue<object>>();

  constructor(place: QueuePlace, names: readonly string[]) {
    this.#place = place;
    this.#names = names;
  }

  /** The queue's calls reject if it cannot be reached. */
  open(name: string): JobQueue<object> {
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    const kind = { queue: name, key: () => name, connections: 1 };
    const opened = new JobQueue<object>(this.#place, kind, { onTrouble: () => {} });
    this.#opened.set(name, opened);
    return opened;
  }

  all(): JobQueue<object>[] {
    return this.#names.map((name) => this.open(name));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map((queue) => queue.close()));
  }
}
