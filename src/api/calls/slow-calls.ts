// The slow calls of this process, for global admins: which route, how long, whose. No path, query or body: those have
// names and secrets.

/** So many milliseconds from a request to the end of its answer are slow. */
const SLOW_MS = 500;
const KEPT = 200;

interface SlowCall {
  readonly at: Date;
  readonly method: string;
  /** With names of parameters in place of values. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Undefined: nobody was signed in. */
  readonly accountId: number | undefined;
}

export class SlowCalls {
  /** The newest is the last. */
  readonly #calls: SlowCall[] = [];

  note(call: SlowCall): void {
    if (call.ms < SLOW_MS) return;
    this.#calls.push(call);
    if (this.#calls.length > KEPT) this.#calls.shift();
  }

  /** The newest first. */
  list(): readonly SlowCall[] {
    return this.#calls.toReversed();
  }
}
