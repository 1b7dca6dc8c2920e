// The memory that large bodies may take in this process while they arrive and wait: one limit for all, and one for each
// account, so that no account takes the room of others.

interface RoomSize {
  readonly bytes: number;
  readonly bytesOfOne: number;
}

export interface Reservation {
  /** False: there is no room for so many more bytes, and the body must be refused. */
  grow(bytes: number): boolean;
  /** Counts an answer, which can no longer be refused: it reduces the room for the next bodies. */
  hold(bytes: number): void;
  release(): void;
}

export class BodyRoom {
  readonly #size: RoomSize;
  readonly #taken = new Map<number, number>();
  #bytes = 0;

  constructor(size: RoomSize) {
    this.#size = size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  reserve(accountId: number): Reservation {
    let mine = 0;
    let isOver = false;
    const hold = (bytes: number) => {
      if (isOver) return;
      this.#bytes += bytes;
      this.#taken.set(accountId, (this.#taken.get(accountId) ?? 0) + bytes);
      mine += bytes;
    };
    return {
      hold,
      grow: (bytes) => {
        const ofOne = (this.#taken.get(accountId) ?? 0) + bytes;
        if (isOver || this.#bytes + bytes > this.#size.bytes || ofOne > this.#size.bytesOfOne) return false;
        hold(bytes);
        return true;
      },
      release: () => {
        isOver = true;
        this.#bytes -= mine;
        const left = (this.#taken.get(accountId) ?? 0) - mine;
        if (left > 0) this.#taken.set(accountId, left);
        else this.#taken.delete(accountId);
        mine = 0;
      },
    };
  }
}
