// Shows progress in the last line of a terminal, and removes it at the end. Writes nothing if the output is not a terminal.

import type { Writable } from 'node:stream';

type Terminal = Pick<Writable, 'write'> & { readonly isTTY?: boolean; readonly columns?: number };

const INTERVAL_MS = 100;
const BAR_COLUMNS = 24;
const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = '\r\x1b[K'; // ECMA-48 EL

export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #isShown = false;

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
  }

  /** May be called at any rate. `words` follow the bar. */
  show(done: number, of: number, words: string): void {
    if (this.#terminal.isTTY !== true || this.#now() - this.#writtenAtMs < INTERVAL_MS) return;
    this.#writtenAtMs = this.#now();
    this.#isShown = true;
    const share = of === 0 ? 0 : Math.min(done / of, 1);
    const full = Math.round(share * BAR_COLUMNS);
    const line = `[${'#'.repeat(full)}${'-'.repeat(BAR_COLUMNS - full)}] ${words}`;
    this.#terminal.write(CLEAR_LINE + line.slice(0, (this.#terminal.columns ?? DEFAULT_COLUMNS) - 1));
  }

  /** Must be called before any other output. */
  clear(): void {
    if (this.#isShown) this.#terminal.write(CLEAR_LINE);
    this.#isShown = false;
  }
}
