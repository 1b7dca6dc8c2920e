// Loads a scan without waiting for its end.

import type { Database } from '../../../src/store/postgres/database.ts';
import { type SavedScan, waitForScan } from '../../../src/store/scans/saved-scans.ts';

export async function loadScan(db: Database, id: number): Promise<SavedScan | undefined> {
  return await waitForScan(db, id, { timeoutMs: 0, signal: new AbortController().signal });
}
