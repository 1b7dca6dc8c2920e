// Takes out of the cache registry, each minute, what has expired and what edges had that are gone.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { CacheRegistry } from '../../src/store/cached/cache-registry.ts';
import { sweepEntries } from '../../src/store/cached/remove-entries.ts';
import { listEdgeNames } from '../../src/store/edges/edges.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface CacheSweepOptions {
  readonly db: Database;
  readonly cacheRegistry: CacheRegistry;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;

export function sweepCache({ db, cacheRegistry, onTrouble, idleMs = IDLE_MS }: CacheSweepOptions): Rounds {
  return runRounds({
    async round() {
      const live = await listEdgeNames(db);
      return { isMore: await sweepEntries(await cacheRegistry.database(), live) };
    },
    idleMs,
    onTrouble,
  });
}
