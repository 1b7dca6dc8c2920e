// Asks the analytics store in rounds whether it answers, which also makes its tables as soon as it is there.

import type { Analytics, AnalyticsFault } from '../../src/analytics/open-analytics.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

const EVERY_MS = 10_000;
const SECONDS = 5;

interface AnalyticsWatch extends Rounds {
  /** Undefined: not known yet. */
  readonly answers: () => boolean | undefined;
}

/** `onTurn` is told when it begins to answer, and, with the reason, when it ceases to; not when it begins by being away. */
export function watchAnalytics(
  analytics: Analytics,
  onTurn: (fault: AnalyticsFault | undefined) => void,
  idleMs = EVERY_MS,
): AnalyticsWatch {
  let answers: boolean | undefined;
  const turn = (now: boolean, fault?: AnalyticsFault) => {
    const isNews = now !== answers && (now || answers === true);
    answers = now;
    if (isNews) onTurn(fault);
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
