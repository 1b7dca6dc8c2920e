// Rejected connections, in a module of their own: the main thread of a node reads them without loading the driver.

/** True if Postgres rejected the connection: the role, its password, or pg_hba.conf. */
export function isRejection(error: unknown): boolean {
  return /^28/.test(String((error as { code?: unknown } | undefined)?.code));
}

/**
 * A starting process retries for this long after Postgres rejected its password, because `migrate` may be about to set
 * it. The whole start ends within a minute, even on a slow machine.
 */
export const REJECTED_MS = 30_000;
