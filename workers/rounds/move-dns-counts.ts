// Moves what nodes count from Postgres to the analytics store, batch by batch. While the store is away, counts wait in Postgres.

import { writeDnsCounts } from '../../src/analytics/dns/write-dns-counts.ts';
import type { Analytics } from '../../src/analytics/open-analytics.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { claimBatch, endBatch, leaveBatch, loadBatch } from '../../src/store/counts/batches.ts';
import type { Database } from '../../src/store/postgres/database.ts';

interface MovingOptions {
  readonly db: Database;
  readonly store: Analytics;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

/** Nodes report once a minute. */
const IDLE_MS = 5000;

export function moveDnsCounts({ db, store, onTrouble, idleMs = IDLE_MS }: MovingOptions): Rounds {
  return runRounds({ round: async () => ({ isMore: await moveBatch(db, store) }), idleMs, onTrouble });
}

async function moveBatch(db: Database, store: Analytics): Promise<boolean> {
  const batch = await claimBatch(db);
  if (batch === undefined) return false;
  try {
    await writeDnsCounts(store, batch, await loadBatch(db, batch));
  } catch (error) {
    await leaveBatch(db, batch);
    throw error;
  }
  await endBatch(db, batch);
  return true;
}
