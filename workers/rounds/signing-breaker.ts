// Stops making signatures anew when those that were made do not verify: the old ones hold for days, and people look. Zones
// that were just refreshed are verified, and others in turn.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import {
  verifyZone,
  type ZoneToVerify,
  zonesToVerify,
} from '../../src/store/signing/check-zone-signatures.ts';

interface SignatureFault {
  readonly zone: string;
  /** One line for each. */
  readonly faults: readonly string[];
}

interface SigningBreakerOptions {
  readonly db: Database;
  readonly onFault: (fault: SignatureFault) => void;
  /** It is open from now on: until the process is started again, nothing is made anew. */
  readonly onOpen: () => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

/** It opens when one of so many zones that were looked at has faults. */
const ZONES_A_FAULT = 100;
/** So few faults may be of zones that were wrong before. */
const LEAST_FAULTS = 3;
const REMEMBERED = 1000;
const IDLE_MS = 15_000;

export class SigningBreaker {
  readonly #options: SigningBreakerOptions;
  /** Of the last zones that were refreshed: whether each had faults. */
  readonly #seen: boolean[] = [];
  readonly #told = new Set<string>();
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
      this.#told.delete(zone.name);
      return false;
    }
    if (!this.#told.has(zone.name)) this.#options.onFault({ zone: zone.name, faults });
    this.#told.add(zone.name);
    return true;
  }
}
