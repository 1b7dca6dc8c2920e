// Limits how often a thread reports unhandled errors.

const INTERVAL_MS = 1000;

/** Returns a function that calls `report` at most once per second: a bug may affect thousands of queries per second. */
export function throttled(report: (error: unknown) => void): (error: unknown) => void {
  let reportedAtMs = 0;
  return (error) => {
    if (Date.now() - reportedAtMs < INTERVAL_MS) return;
    reportedAtMs = Date.now();
    report(error);
  };
}
