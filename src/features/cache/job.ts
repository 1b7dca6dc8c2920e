// Deletes expired entries, and entries of deleted edges, from the cache registry every minute.

import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import { listEdgeNames } from '../../store/edges/edges.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import { sweepEntries } from './sql-entries.ts';
import { CacheRegistry } from './sql-registry.ts';

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

export function startCacheSweep({
  db,
  databaseUrl,
  settings: { cacheRegistryUrl },
  trouble,
}: WorkTools): Rounds {
  const cacheRegistry = new CacheRegistry({
    url: cacheRegistryUrl ?? databaseUrl,
    isElsewhere: cacheRegistryUrl !== undefined,
    maxConnections: 1,
  });
  const sweeping = sweepCache({
    db,
    cacheRegistry,
    onTrouble: (error) => trouble('housekeeping', error as Error),
  });
  return {
    async stop() {
      await sweeping.stop();
      await cacheRegistry.close();
    },
  };
}
