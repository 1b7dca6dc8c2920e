// The memory that large bodies may take in this process while they arrive and wait: one limit for all, and one for each
// account, so that no account takes the room of others.

interface RoomSize {
  readonly octets: number;
  readonly octetsOfOne: number;
}

export interface Reservation {
  /** False: there is no room for so many more octets, and the body must be refused. */
  grow(octets: number): boolean;
  /** Counts an answer, which can no longer be refused: it reduces the room for the next bodies. */
  hold(octets: number): void;
  release(): void;
}

export class BodyRoom {
  readonly #size: RoomSize;
  readonly #taken = new Map<number, number>();
  #octets = 0;

  constructor(size: RoomSize) {
    this.#size = size;
  }

  get octets(): number {
    return this.#octets;
  }

  reserve(accountId: number): Reservation {
    let mine = 0;
    let isOver = false;
    const hold = (octets: number) => {
      if (isOver) return;
      this.#octets += octets;
      this.#taken.set(accountId, (this.#taken.get(accountId) ?? 0) + octets);
      mine += octets;
    };
    return {
      hold,
      grow: (octets) => {
        const ofOne = (this.#taken.get(accountId) ?? 0) + octets;
        if (isOver || this.#octets + octets > this.#size.octets || ofOne > this.#size.octetsOfOne)
          return false;
        hold(octets);
        return true;
      },
      release: () => {
        isOver = true;
        this.#octets -= mine;
        const left = (this.#taken.get(accountId) ?? 0) - mine;
        if (left > 0) this.#taken.set(accountId, left);
        else this.#taken.delete(accountId);
        mine = 0;
      },
    };
  }
}
