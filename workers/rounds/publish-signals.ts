// Publishes and removes the signals of domains that await their first DS (RFC 9615), in rounds.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { FIRST_SIGNALS, publishSignals } from '../../src/store/dnssec/publish-signals.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface SignalOptions {
  readonly db: Database;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 10_000;

export function runSignals({ db, onTrouble, idleMs = IDLE_MS }: SignalOptions): Rounds {
  let cursor = FIRST_SIGNALS;
  return runRounds({
    idleMs,
    onTrouble,
    async round() {
      const round = await publishSignals(db, cursor, onTrouble);
      cursor = round.cursor;
      return round;
    },
  });
}
