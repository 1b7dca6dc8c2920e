// Limits how often a thread reports unhandled errors.

const INTERVAL_MS = 1000;

/** Returns a function that calls `report` at most once per second: a bug may affect thousands of queries per second. */
export function throttled(
  report: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (nowMs() - reportedAtMs < INTERVAL_MS) return;
    reportedAtMs = nowMs();
    report(error);
  };
}
