// Begins pieces of work in rounds of the event loop, a few in each: networks in turn, and the pieces of a network in order.
// So a crowd delays a client of another network by about one piece for each network, and a busy server still accepts
// connections, of which the event loop accepts one in each round.

/** How many pieces begin in a round. */
const PIECES = 4;
/** The same while connections are accepted: a crowd is accepted first, and goes on being served meanwhile. */
const PIECES_WHILE_ACCEPTING = 1 / 16;

type Work = () => void;

export class Rounds {
  readonly #nextRound: (task: () => void) => void;
  /** For each network with work that waits, that work; networks in the order of their turns. */
  readonly #waiting = new Map<string, Set<Work>>();
  #left = PIECES;
  #hasAccepted = false;
  #isPlanned = false;

  constructor(nextRound: (task: () => void) => void = setImmediate) {
    this.#nextRound = nextRound;
  }

  /** A connection was accepted, so more may follow: rounds are short meanwhile. */
  noteAccepted(): void {
    this.#hasAccepted = true;
    this.#plan();
  }

  /** Counts a piece that began without waiting: the next rounds begin fewer. */
  count(): void {
    this.#left--;
    this.#plan();
  }

  /** Begins the work immediately if nothing else waits and the round has room. */
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
      if (works.size > 0) this.#waiting.set(network, works); // the iteration comes to it again, behind the others
      (work as Work)();
    }
    if (this.#waiting.size > 0) this.#plan();
  }
}
