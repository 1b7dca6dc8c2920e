// Waits until every nameserver has a change, with one watch for each database.

import { type InSync, inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import { SyncWatch } from './sync-watch.ts';

const watches = new WeakMap<Database, SyncWatch>();

/** Gives the last known state when the change is in sync, the time is over, or the caller has gone. */
export function waitForSync(
  db: Database,
  changeId: number,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<InSync | undefined> {
  let watch = watches.get(db);
  if (watch === undefined) {
    watch = new SyncWatch((ids) => inSync(db, ids));
    watches.set(db, watch);
  }
  return watch.wait(changeId, timeoutMs, gone);
}
