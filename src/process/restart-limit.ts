// Time limit and error texts of a planned restart, shared by `npm start` and nodes that run without it.

/** Time within which a successor must answer. */
export const RESTART_LIMIT_MS = 600_000;

export const OVERDUE = `the new process was not ready within ${RESTART_LIMIT_MS / 60_000} minutes and was killed; its log shows how far it got`;

/** Returns the reason for a failure. `how` is a signal, an exit code or the start error. */
export function explainEarlyEnd(how: string): string {
  return `the new process ended before it was ready (${how}); its log says why`;
}
