// Waits for a check that was asked for: a worker makes it, and the caller finds its run by the request.

import type { Database } from '../postgres/database.ts';
import { type Waiting, waitForRow } from '../postgres/wait-for-row.ts';
import { findCheckByRequest, type SavedRun } from './load-checks.ts';

/** Undefined: the time is over, or `signal` has aborted. */
export async function waitForCheck(
  db: Database,
  request: string,
  waiting: Waiting,
): Promise<SavedRun | undefined> {
  return await waitForRow(() => findCheckByRequest(db, request), waiting);
}
