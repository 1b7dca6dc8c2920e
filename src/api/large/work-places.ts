// Limits the number of large bodies that are handled concurrently, with one per account and per domain. The others
// wait in order, but a body that waits for its own account does not delay those behind it.

export interface PlacesSize {
  /** Maximum number of bodies that are handled concurrently. */
  readonly places: number;
  readonly waiting: number;
  readonly waitingOfOne: number;
}

interface Entrant {
  readonly accountId: number;
  readonly domainId: number | undefined;
  /** Aborts the wait. */
  readonly gone: AbortSignal;
}

/** `full`: too many calls wait, in total or of this account. */
type Entered =
  | { readonly kind: 'entered'; readonly leave: () => void }
  | { readonly kind: 'full' }
  | { readonly kind: 'gone' };

interface Waiting extends Entrant {
  readonly admit: (entered: Entered) => void;
}

export class WorkPlaces {
  readonly #size: PlacesSize;
  readonly #working = new Set<Entrant>();
  #waiting: Waiting[] = [];

  constructor(size: PlacesSize) {
    this.#size = size;
  }

  get working(): number {
    return this.#working.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async enter(entrant: Entrant): Promise<Entered> {
    const { accountId, gone } = entrant;
    if (gone.aborted) return { kind: 'gone' };
    const ofOne = this.#waiting.filter((other) => other.accountId === accountId).length;
    const isFull = this.#waiting.length >= this.#size.waiting || ofOne >= this.#size.waitingOfOne;
    if (isFull) return { kind: 'full' };
    return await new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        resolve({ kind: 'gone' });
      };
      const waiting: Waiting = {
        ...entrant,
        admit(entered) {
          gone.removeEventListener('abort', giveUp);
          resolve(entered);
        },
      };
      gone.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiting);
      this.#admitNext();
    });
  }

  #admitNext(): void {
    while (this.#working.size < this.#size.places) {
      const next = this.#waiting.find((waiting) => this.#isFree(waiting));
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#working.add(next);
      next.admit({
        kind: 'entered',
        leave: () => {
          if (this.#working.delete(next)) this.#admitNext();
        },
      });
    }
  }

  #isFree({ accountId, domainId }: Entrant): boolean {
    return [...this.#working].every(
      (other) => other.accountId !== accountId && (domainId === undefined || other.domainId !== domainId),
    );
  }
}
