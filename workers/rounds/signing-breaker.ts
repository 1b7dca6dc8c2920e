// Stops refreshing signatures if new ones do not verify. The old ones remain valid for days, so that people can
// investigate. Verifies zones that were just refreshed, and all others in turn.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import {
  verifyZone,
  type ZoneToVerify,
  zonesToVerify,
} from '../../src/store/signing/check-zone-signatures.ts';

interface SignatureFault {
  readonly zone: string;
  /** One line per fault. */
  readonly faults: readonly string[];
}

interface SigningBreakerOptions {
  readonly db: Database;
  readonly onFault: (fault: SignatureFault) => void;
  /** Called when the breaker opens. It stays open until the process restarts. */
  readonly onOpen: () => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

/** The breaker opens if at least one of this many verified zones has faults. */
const ZONES_A_FAULT = 100;
/** Fewer faults may be of zones that were faulty before. */
const LEAST_FAULTS = 3;
const REMEMBERED = 1000;
const IDLE_MS = 15_000;

export class SigningBreaker {
  readonly #options: SigningBreakerOptions;
  /** For each of the last refreshed zones: true if it had faults. */
  readonly #seen: boolean[] = [];
  readonly #reported = new Set<string>();
  #isOpen = false;
  #after = 0;

  constructor(options: SigningBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Verifies a zone that was refreshed. */
  async look(zone: ZoneToVerify): Promise<void> {
    const isFaulty = await this.#verify(zone);
    this.#seen.push(isFaulty);
    if (this.#seen.length > REMEMBERED) this.#seen.shift();
    const faults = this.#seen.filter((each) => each).length;
    if (this.#isOpen || faults < LEAST_FAULTS || faults * ZONES_A_FAULT < this.#seen.length) return;
    this.#isOpen = true;
    this.#options.onOpen();
  }

  /** Verifies all signed zones in turn, some at a time. */
  watch(): Rounds {
    const { db, onTrouble, idleMs = IDLE_MS } = this.#options;
    return runRounds({
      idleMs,
      onTrouble,
      round: async () => {
        const zones = await zonesToVerify(db, this.#after);
        this.#after = zones.at(-1)?.id ?? 0;
        for (const zone of zones) await this.#verify(zone);
        return { isMore: false };
      },
    });
  }

  async #verify(zone: ZoneToVerify): Promise<boolean> {
    const faults = await verifyZone(this.#options.db, zone);
    if (faults.length === 0) {
      this.#reported.delete(zone.name);
      return false;
    }
    if (!this.#reported.has(zone.name)) this.#options.onFault({ zone: zone.name, faults });
    this.#reported.add(zone.name);
    return true;
  }
}
