// Waits until every nameserver has loaded a change, for all calls of this process together.

import { type InSync, inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import { SyncWatch } from './sync-watch.ts';

const watches = new WeakMap<Database, SyncWatch>();

/** Returns the last known state when the change is in sync, the time is over, or the client has disconnected. */
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
