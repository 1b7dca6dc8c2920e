// Starts a few pieces of work per round of the event loop: networks in turn, and each network's pieces in order. A crowd
// delays a client of another network by only about one piece per network, and a busy server still accepts connections, one
// per round.

/** Number of pieces started per round. */
const PIECES = 4;
/** The same while connections are being accepted: a crowd is accepted first, and still served meanwhile. */
const PIECES_WHILE_ACCEPTING = 1 / 16;

type Work = () => void;

export class Rounds {
  readonly #nextRound: (task: () => void) => void;
  /** Waiting work by network, in the order of turns. */
  readonly #waiting = new Map<string, Set<Work>>();
  #left = PIECES;
  #hasAccepted = false;
  #isPlanned = false;

  constructor(nextRound: (task: () => void) => void = setImmediate) {
    this.#nextRound = nextRound;
  }

  /** Records that a connection was accepted. More may follow, so rounds are short meanwhile. */
  noteAccepted(): void {
    this.#hasAccepted = true;
    this.#plan();
  }

  /** Counts a piece that started without waiting. Later rounds start fewer. */
  count(): void {
    this.#left--;
    this.#plan();
  }

  /** Starts the work immediately if nothing else waits and the round has room. */
  run(network: string, work: Work): void {
    this.#plan();
    if (this.#waiting.size === 0 && this.#left >= 1) {
      this.#left--;
      work();
      return;
    }
    const waiting = this.#waiting.get(network);
    if (waiting === undefined) this.#waiting.set(network, new Set([work]));
    else waiting.add(work);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#nextRound(() => this.#round());
  }

  #round(): void {
    this.#isPlanned = false;
    this.#left = this.#hasAccepted
      ? Math.min(1, this.#left + PIECES_WHILE_ACCEPTING)
      : Math.min(PIECES, this.#left + PIECES);
    this.#hasAccepted = false;
    for (const [network, works] of this.#waiting) {
      if (this.#left < 1) break;
      this.#left--;
      const [work] = works;
      this.#waiting.delete(network);
      works.delete(work as Work);
      if (works.size > 0) this.#waiting.set(network, works); // the iteration reaches it again after the others
      (work as Work)();
    }
    if (this.#waiting.size > 0) this.#plan();
  }
}
