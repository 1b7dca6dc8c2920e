// The pieces of large bodies are counted only so many octets in a round of the event loop: many large bodies at a time
// slow each other, and no other call.

const ROUND_OCTETS = 128 * 1024;
/** What a piece costs beside its octets: a body of tiny pieces pays for each. */
const PIECE_OCTETS = 256;

interface Piece {
  readonly octets: number;
  readonly work: () => void;
}

export class BodyTurns {
  #waiting: Piece[] = [];
  /** In this round of the event loop. */
  #spent = 0;
  #isPlanned = false;

  /** True: the round has room, and the piece may be counted now. False: it has to wait. */
  mayTake(octets: number): boolean {
    if (this.#waiting.length > 0 || this.#spent >= ROUND_OCTETS) return false;
    this.#spent += octets + PIECE_OCTETS;
    this.#plan();
    return true;
  }

  /** Runs `work` in a later round, in the order of the calls. */
  wait(octets: number, work: () => void): void {
    this.#waiting.push({ octets, work });
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
    while (this.#spent < ROUND_OCTETS && taken < this.#waiting.length)
      this.#spent += (this.#waiting[taken++]?.octets ?? 0) + PIECE_OCTETS;
    const pieces = this.#waiting.splice(0, taken);
    if (pieces.length > 0) this.#plan(); // starts a new round with nothing spent
    for (const { work } of pieces) work();
  }
}
