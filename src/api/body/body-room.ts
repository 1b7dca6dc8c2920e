// Limits the cost of large bodies while they arrive: their memory (per process and per account), and the bytes that
// are scanned in one round of the event loop, so that they do not delay other calls.

interface RoomSize {
  readonly bytes: number;
  readonly bytesOfOne: number;
}

export interface Reservation {
  /** Returns false if there is no room for this many more bytes. The body must then be refused. */
  grow(bytes: number): boolean;
  /** Counts bytes that can no longer be refused, such as those of a response. They leave less memory for the next bodies. */
  hold(bytes: number): void;
  release(): void;
}

/** The memory that large bodies may use in this process, in total and per account. */
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

const FIRST_BYTES = 4096;
const MAX_SEGMENT_BYTES = 1024 * 1024;

/** Copies chunks into large segments, so that a million chunks of one byte need no more memory than one. */
export class BodySegments {
  readonly #full: Uint8Array[] = [];
  #open = new Uint8Array(0);
  #used = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#open.length) this.#next();
      const part = chunk.subarray(at, at + this.#open.length - this.#used);
      this.#open.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
    this.#bytes += chunk.length;
  }

  /** Each segment has its own buffer, which can be transferred to a thread. */
  list(): Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#open.subarray(0, this.#used)] as Uint8Array<ArrayBuffer>[];
  }

  #next(): void {
    if (this.#used > 0) this.#full.push(this.#open);
    this.#open = new Uint8Array(Math.min(MAX_SEGMENT_BYTES, Math.max(FIRST_BYTES, this.#bytes)));
    this.#used = 0;
  }
}

const ROUND_BYTES = 128 * 1024;
/** Fixed cost of a piece, in bytes. */
const PIECE_BYTES = 256;

interface Piece {
  readonly bytes: number;
  readonly work: () => void;
}

/** Limits the bytes scanned per round of the event loop. Large bodies delay only each other. */
export class BodyTurns {
  #waiting: Piece[] = [];
  /** Bytes spent in this round of the event loop. */
  #spent = 0;
  #isPlanned = false;

  /** Returns true if the piece may be scanned in this round. Otherwise it has to wait. */
  mayTake(bytes: number): boolean {
    if (this.#waiting.length > 0 || this.#spent >= ROUND_BYTES) return false;
    this.#spent += bytes + PIECE_BYTES;
    this.#plan();
    return true;
  }

  /** Runs `work` in a later round, in the order of the calls. */
  wait(bytes: number, work: () => void): void {
    this.#waiting.push({ bytes, work });
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#isPlanned = false;
    this.#spent = 0;
    let taken = 0;
    while (this.#spent < ROUND_BYTES && taken < this.#waiting.length)
      this.#spent += (this.#waiting[taken++]?.bytes ?? 0) + PIECE_BYTES;
    const pieces = this.#waiting.splice(0, taken);
    if (pieces.length > 0) this.#plan(); // starts a new round with nothing spent
    for (const { work } of pieces) work();
  }
}
