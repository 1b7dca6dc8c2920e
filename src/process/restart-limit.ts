// The time limit of a planned restart, and why one fails. `npm start` and nodes that start their successor themselves share it.

/** How long a successor may take until it answers. */
export const RESTART_LIMIT_MS = 600_000;

export const OVERDUE = `the new process was not ready within ${RESTART_LIMIT_MS / 60_000} minutes and was killed; its log shows how far it got`;

/** `how` is a signal, an exit code or the error of the start. */
export function explainEarlyEnd(how: string): string {
  return `the new process ended before it was ready (${how}); its log says why`;
}
