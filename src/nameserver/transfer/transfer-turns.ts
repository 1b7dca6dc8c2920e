// Limits concurrent transfers, in total and per peer. Others wait in order, except that a peer at its own limit does not
// delay the others.

const PER_PEER = 5;
const WAIT_MS = 60_000;
const MOST_WAITING = 1000;

/** Ends a transfer. Calling it again has no effect. */
export type Release = () => void;

interface Waiting {
  readonly peerId: number;
  readonly start: (release: Release | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

export class TransferTurns {
  readonly #most: number;
  /** Returns false while the memory of transfers is in use. */
  readonly #hasRoom: () => boolean;
  readonly #running = new Map<number, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  constructor(most: number, hasRoom: () => boolean) {
    this.#most = most;
    this.#hasRoom = hasRoom;
  }

  /** Resolves with undefined if the transfer would wait too long, or `ended` is aborted. */
  take(peerId: number, ended: AbortSignal): Promise<Release | undefined> {
    if (this.#isFree(peerId)) return Promise.resolve(this.#start(peerId));
    if (this.#waiting.size >= MOST_WAITING || ended.aborted) return Promise.resolve(undefined);
    return new Promise((start) => {
      const giveUp = () => {
        clearTimeout(waiting.timer);
        if (this.#waiting.delete(waiting)) start(undefined);
      };
      const waiting: Waiting = { peerId, start, timer: setTimeout(giveUp, WAIT_MS) };
      this.#waiting.add(waiting);
      ended.addEventListener('abort', giveUp, { once: true });
    });
  }

  #isFree(peerId: number): boolean {
    return this.#total < this.#most && (this.#running.get(peerId) ?? 0) < PER_PEER && this.#hasRoom();
  }

  #start(peerId: number): Release {
    this.#total++;
    this.#running.set(peerId, (this.#running.get(peerId) ?? 0) + 1);
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      this.#total--;
      const left = (this.#running.get(peerId) ?? 0) - 1;
      if (left > 0) this.#running.set(peerId, left);
      else this.#running.delete(peerId);
      this.#next();
    };
  }

  /** Starts the waiting transfers that may start now. */
  #next(): void {
    for (const waiting of this.#waiting) {
      if (this.#total >= this.#most) return;
      if (!this.#isFree(waiting.peerId)) continue;
      this.#waiting.delete(waiting);
      clearTimeout(waiting.timer);
      waiting.start(this.#start(waiting.peerId));
    }
  }
}
