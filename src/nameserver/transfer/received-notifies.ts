// Records the NOTIFY messages of primaries. Those about one zone that arrive in quick succession are recorded once, so that
// they cannot keep the database busy.

import { setTimeout as pause } from 'node:timers/promises';
import type { Name } from '../../dns/name.ts';

const SPACING_MS = 100;

export class ReceivedNotifies {
  readonly #write: (apex: Name, serial: number | null) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  /** The newest serial of each zone that is not recorded yet. At most all zones of which this fleet is a secondary. */
  readonly #waiting = new Map<Name, number | null>();
  #isWriting = false;

  constructor(
    write: (apex: Name, serial: number | null) => Promise<void>,
    onError: (error: unknown) => void,
  ) {
    this.#write = write;
    this.#onError = onError;
  }

  /** `serial` is null if the message does not have one. */
  add(apex: Name, serial: number | null): void {
    this.#waiting.set(apex, serial);
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting];
      this.#waiting.clear();
      for (const [apex, serial] of batch)
        await this.#write(apex, serial).catch((error) => this.#keep(apex, error));
      await pause(SPACING_MS, undefined, { ref: false });
    }
    this.#isWriting = false;
  }

  /** The NOTIFY has been acknowledged, so it is recorded when the database is available again. */
  #keep(apex: Name, error: unknown): void {
    this.#onError(error);
    if (!this.#waiting.has(apex)) this.#waiting.set(apex, null);
  }
}
