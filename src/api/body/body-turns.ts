// The pieces of large bodies are counted only so many bytes in a round of the event loop: many large bodies at a time
// slow each other, and no other call.

const ROUND_BYTES = 128 * 1024;
/** What a piece costs beside its bytes: a body of tiny pieces pays for each. */
const PIECE_BYTES = 256;

interface Piece {
  readonly bytes: number;
  readonly work: () => void;
}

export class BodyTurns {
  #waiting: Piece[] = [];
  /** In this round of the event loop. */
  #spent = 0;
  #isPlanned = false;

  /** True: the round has room, and the piece may be counted now. False: it has to wait. */
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
