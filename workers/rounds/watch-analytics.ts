// Asks the analytics store in rounds whether it answers, which also makes its tables as soon as it is there.

import type { Analytics, AnalyticsFault } from '../../src/analytics/open-analytics.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';

const EVERY_MS = 10_000;
/** Looks at a store that is not there at first: the embedded one may be being installed. */
const PATIENCE = 12;
const SECONDS = 5;

interface AnalyticsWatch extends Rounds {
  /** Undefined: not known yet. */
  readonly answers: () => boolean | undefined;
}

/** `onTurn` is told when the store begins to answer, and, with the reason, when it ceases to, or does not begin for two minutes. */
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
    // It has answered never, or it ceased to, which was told.
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
    onTrouble: () => {}, // it tells itself
  });
  return { stop: () => rounds.stop(), answers: () => answers };
}
