// Checks in rounds whether the analytics store is available. The first successful check also creates its tables.

import type { Analytics, AnalyticsFault } from '../../src/analytics/open-analytics.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';

const EVERY_MS = 10_000;
/** Number of failed checks until a missing store is reported at the start, because it may still be installing. */
const PATIENCE = 12;
const SECONDS = 5;

interface AnalyticsWatch extends Rounds {
  /** Undefined until it is known. */
  readonly answers: () => boolean | undefined;
}

/** Calls `onTurn` when the store becomes available or, with the reason, unavailable. */
export function watchAnalytics(
  analytics: Analytics,
  onTurn: (fault: AnalyticsFault | undefined) => void,
  idleMs = EVERY_MS,
): AnalyticsWatch {
  let answers: boolean | undefined;
  let hasAnswered = false;
  let misses = 0;
  const turn = (now: boolean, fault?: AnalyticsFault) => {
    misses = now ? 0 : misses + 1;
    const hasTurned = now !== answers && (now || answers === true);
    // The store was never available. A later outage is reported when it begins.
    const isMissed = !hasAnswered && misses === PATIENCE;
    answers = now;
    hasAnswered ||= now;
    if (hasTurned || isMissed) onTurn(fault);
  };
  const rounds = runRounds({
    async round() {
      await analytics.query('SELECT 1', {}, { seconds: SECONDS }).then(
        () => turn(true),
        (fault: AnalyticsFault) => turn(false, fault),
      );
      return { isMore: false };
    },
    idleMs,
    onTrouble: () => {}, // each check reports its own error
  });
  return { stop: () => rounds.stop(), answers: () => answers };
}
