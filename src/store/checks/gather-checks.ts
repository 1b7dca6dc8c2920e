// Saves checks in batches: those that finish while a statement is running share the next one. There is no timer.

import type { Database } from '../postgres/database.ts';
import type { CheckOrder } from './check-outcome.ts';
import { type NameOrder, type SavedCheck, saveMovingCheck } from './save-check.ts';
import { saveStillChecks } from './save-still-checks.ts';

const MOST_AT_ONCE = 100;

interface Waiting {
  readonly order: NameOrder;
  readonly resolve: (saved: SavedCheck | Promise<SavedCheck>) => void;
}

/** Returns a function that saves checks in this database. */
export function gatherChecks(db: Database): (order: NameOrder) => Promise<SavedCheck> {
  const waiting: Waiting[] = [];
  let isSaving = false;
  const saveAll = async () => {
    isSaving = true;
    while (waiting.length > 0) await saveBatch(db, waiting.splice(0, MOST_AT_ONCE));
    isSaving = false;
  };
  return (order) =>
    new Promise((resolve) => {
      waiting.push({ order, resolve });
      if (!isSaving) void saveAll();
    });
}

/** Never throws. A check that the statement cannot save is saved, or fails, separately. */
async function saveBatch(db: Database, batch: readonly Waiting[]): Promise<void> {
  const orders = batch.flatMap(({ order }) => (mayBeStill(order) ? [order.orders[0]] : []));
  const still = await saveStillChecks(db, orders).catch(() => new Map<CheckOrder, number>());
  for (const { order, resolve } of batch) {
    const checkId = still.get(order.orders[0]);
    resolve(checkId === undefined ? saveMovingCheck(db, order) : { kind: 'saved', checkId });
  }
}

/** Returns true if only the domain's own check must be saved. */
function mayBeStill({ orders, sighting, lostExternal, givenUp, isTakeover, warned }: NameOrder): boolean {
  return (
    orders.length === 1 &&
    sighting === undefined &&
    lostExternal === undefined &&
    givenUp.length === 0 &&
    warned.length === 0 &&
    !isTakeover
  );
}
