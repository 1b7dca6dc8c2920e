// Limits concurrent transfers: in total, per peer, per account, and of all accounts together, so that customers cannot
// delay the peers of the operator. Others wait in order, except that those at their own limit do not delay the rest.

const PER_PEER = 5;
/** The share of all slots that the peers of customers' domains may have, together and for one account. */
const SHARE_OF_CUSTOMERS = 1 / 2;
const SHARE_OF_ACCOUNT = 1 / 8;
const WAIT_MS = 60_000;
const MOST_WAITING = 1000;
const MOST_WAITING_OF_ACCOUNT = 16;

/** Ends a transfer. Calling it again has no effect. */
export type Release = () => void;

/** The peer that transfers a zone. */
interface Taker {
  readonly id: number;
  /** Undefined for a peer of the operator. */
  readonly accountId: number | undefined;
}

interface Waiting {
  readonly taker: Taker;
  readonly start: (release: Release | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

export class TransferSlots {
  readonly #most: number;
  readonly #mostOfCustomers: number;
  readonly #mostOfAccount: number;
  /** Returns false while the memory of transfers is in use. */
  readonly #hasRoom: () => boolean;
  readonly #running: Taker[] = [];
  readonly #waiting = new Set<Waiting>();

  constructor(most: number, hasRoom: () => boolean) {
    this.#most = most;
    this.#mostOfCustomers = Math.max(1, Math.floor(most * SHARE_OF_CUSTOMERS));
    this.#mostOfAccount = Math.max(1, Math.floor(most * SHARE_OF_ACCOUNT));
    this.#hasRoom = hasRoom;
  }

  /** Resolves with undefined if the transfer would wait too long, or `ended` is aborted. */
  take(taker: Taker, ended: AbortSignal): Promise<Release | undefined> {
    if (this.#isFree(taker)) return Promise.resolve(this.#start(taker));
    if (!this.#mayWait(taker) || ended.aborted) return Promise.resolve(undefined);
    return new Promise((start) => {
      const giveUp = () => {
        clearTimeout(waiting.timer);
        if (this.#waiting.delete(waiting)) start(undefined);
      };
      const waiting: Waiting = { taker, start, timer: setTimeout(giveUp, WAIT_MS) };
      this.#waiting.add(waiting);
      ended.addEventListener('abort', giveUp, { once: true });
    });
  }

  #isFree({ id, accountId }: Taker): boolean {
    const count = (isCounted: (running: Taker) => boolean) => this.#running.filter(isCounted).length;
    if (this.#running.length >= this.#most || !this.#hasRoom()) return false;
    if (count((running) => running.id === id) >= PER_PEER) return false;
    if (accountId === undefined) return true;
    return (
      count((running) => running.accountId === accountId) < this.#mostOfAccount &&
      count((running) => running.accountId !== undefined) < this.#mostOfCustomers
    );
  }

  #mayWait({ accountId }: Taker): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false;
    if (accountId === undefined) return true;
    const ofAccount = [...this.#waiting].filter(({ taker }) => taker.accountId === accountId);
    return ofAccount.length < MOST_WAITING_OF_ACCOUNT;
  }

  #start(taker: Taker): Release {
    const running = { ...taker };
    this.#running.push(running);
    return () => {
      const index = this.#running.indexOf(running);
      if (index < 0) return;
      this.#running.splice(index, 1);
      this.#next();
    };
  }

  /** Starts the waiting transfers that may start now. */
  #next(): void {
    for (const waiting of this.#waiting) {
      if (this.#running.length >= this.#most) return;
      if (!this.#isFree(waiting.taker)) continue;
      this.#waiting.delete(waiting);
      clearTimeout(waiting.timer);
      waiting.start(this.#start(waiting.taker));
    }
  }
}
