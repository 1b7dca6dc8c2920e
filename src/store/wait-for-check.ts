// Waiting for a check that was asked for: a worker makes it, and whoever asked finds its run by the request.

import type { Database } from './database.ts';
import { findCheckByRequest, type SavedRun } from './load-checks.ts';
import { type Waiting, waitForRow } from './wait-for-row.ts';

/** Undefined: the time is over, or `signal` was raised. */
export async function waitForCheck(
  db: Database,
  request: string,
  waiting: Waiting,
): Promise<SavedRun | undefined> {
  return await waitForRow(() => findCheckByRequest(db, request), waiting);
}
