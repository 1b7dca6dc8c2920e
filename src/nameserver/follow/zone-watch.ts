// Reports the zones whose served content changes to the transfer thread, in batches. Until that thread says whether it
// needs them, they are collected, so that changes made before it started are not missed.

import type { Name } from '../../dns/name.ts';
import type { ChangedZone } from '../transfer/messages.ts';

const BATCH_ZONES = 1000;
/** Later zones are not reported: their peers notice the change at their next refresh. */
const MAX_COLLECTED = 100_000;

export class ZoneWatch {
  readonly #post: (zones: ChangedZone[]) => void;
  readonly #zones = new Map<Name, number>();
  /** Undefined until the transfer thread has decided. */
  #watches: boolean | undefined;
  #isPlanned = false;

  constructor(post: (zones: ChangedZone[]) => void) {
    this.#post = post;
  }

  add({ apex, id }: ChangedZone): void {
    if (this.#watches === false || (this.#watches === undefined && this.#zones.size >= MAX_COLLECTED)) return;
    this.#zones.set(apex, id);
    this.#plan();
  }

  watch(watches: boolean): void {
    this.#watches = watches;
    if (watches) this.#plan();
    else this.#zones.clear();
  }

  /** Zones that change in the same turn of the event loop are posted together. */
  #plan(): void {
    if (this.#isPlanned || this.#watches !== true || this.#zones.size === 0) return;
    this.#isPlanned = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isPlanned = false;
    let zones: ChangedZone[] = [];
    for (const [apex, id] of this.#zones) {
      zones.push({ id, apex });
      if (zones.length < BATCH_ZONES) continue;
      this.#post(zones);
      zones = [];
    }
    if (zones.length > 0) this.#post(zones);
    this.#zones.clear();
  }
}
