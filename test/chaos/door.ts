// One way in (UDP, TCP, a read, an edit) as the witness sees it: what was asked, what failed, and since when it works.

export type Heard = 'right' | 'wrong' | 'lost';

interface Passage {
  readonly sentAtMs: number;
  readonly doneAtMs: number;
}

export class Door {
  asked = 0;
  lost = 0;
  wrong = 0;
  worstMs = 0;
  /** When the newest request that failed was sent. */
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** Requests that succeeded. One that failed before them may be told long after them. */
  readonly #succeeded: Passage[] = [];
  #succeededAtMs = Number.NEGATIVE_INFINITY;

  async pass(ask: () => Promise<Heard>): Promise<void> {
    const sentAtMs = performance.now();
    this.asked++;
    const heard = await ask();
    const doneAtMs = performance.now();
    this.note(heard, { sentAtMs, doneAtMs });
  }

  note(heard: Heard, { sentAtMs, doneAtMs }: Passage): void {
    if (heard === 'right') {
      this.worstMs = Math.max(this.worstMs, doneAtMs - sentAtMs);
      this.#succeededAtMs = Math.max(this.#succeededAtMs, sentAtMs);
      this.#succeeded.push({ sentAtMs, doneAtMs });
      return;
    }
    if (heard === 'lost') this.lost++;
    else this.wrong++;
    this.#failedAtMs = Math.max(this.#failedAtMs, sentAtMs);
  }

  /** A request sent after that moment, and after the newest that failed, has succeeded. */
  worksSince(ms: number): boolean {
    return this.#succeededAtMs > Math.max(ms, this.#failedAtMs);
  }

  /** When the first request after the newest failure was answered; 0: none failed; undefined: none was since. */
  recoveredAtMs(): number | undefined {
    if (this.#failedAtMs === Number.NEGATIVE_INFINITY) return 0;
    return this.#succeeded.find(({ sentAtMs }) => sentAtMs > this.#failedAtMs)?.doneAtMs;
  }
}
