// Loads and saves checks in batches: calls made while a statement is running share the next one. No timer delays a call.

import type { Database } from '../postgres/database.ts';
import { findHeldZones } from '../zones/load-zones.ts';
import type { CheckOrder } from './check-outcome.ts';
import { type CheckedName, checkedName, loadClaims } from './load-checked-name.ts';
import { type NameOrder, type SavedCheck, saveMovingCheck } from './save-check.ts';
import { saveStillChecks } from './save-still-checks.ts';

const MOST_SAVED = 100;
/** A statement with a longer array is not prepared. */
const MOST_LOADED = 64;

interface Call<T, R> {
  readonly item: T;
  readonly resolve: (result: R | Promise<R>) => void;
}

/** `runBatch` must not reject. */
function inBatches<T, R>(
  runBatch: (calls: readonly Call<T, R>[]) => Promise<void>,
  most: number,
): (item: T) => Promise<R> {
  const waiting: Call<T, R>[] = [];
  let isRunning = false;
  const runAll = async () => {
    isRunning = true;
    while (waiting.length > 0) await runBatch(waiting.splice(0, most));
    isRunning = false;
  };
  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve });
      if (!isRunning) void runAll();
    });
}

/** Returns a function that saves checks in this database. */
export function gatherChecks(db: Database): (order: NameOrder) => Promise<SavedCheck> {
  return inBatches((calls) => saveBatch(db, calls), MOST_SAVED);
}

/** A check that the statement cannot save is saved, or fails, separately. */
async function saveBatch(db: Database, calls: readonly Call<NameOrder, SavedCheck>[]): Promise<void> {
  const orders = calls.flatMap(({ item }) => (mayBeStill(item) ? [item.orders[0]] : []));
  const still = await saveStillChecks(db, orders).catch(() => new Map<CheckOrder, number>());
  for (const { item, resolve } of calls) {
    const checkId = still.get(item.orders[0]);
    resolve(checkId === undefined ? saveMovingCheck(db, item) : { kind: 'saved', checkId });
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

/**
 * Returns a function that loads the name of a domain. It returns undefined if the domain is deleted, or in a status that
 * is not checked.
 */
export function gatherNames(db: Database): (domainId: number) => Promise<CheckedName | undefined> {
  return gatherLoads(async (domainIds) => {
    const claims = await loadClaims(db, domainIds);
    return async (domainId) => {
      const rows = claims.get(domainId);
      return rows && (await checkedName(db, rows));
    };
  });
}

/** Returns a function that does the same as `findHeldZones`, for `loadHeldZone`. It may return further zones. */
export function gatherZones(db: Database): (names: readonly string[]) => ReturnType<typeof findHeldZones> {
  return gatherLoads(async (lists) => {
    const zones = await findHeldZones(db, [...new Set(lists.flat())]);
    return async () => zones;
  });
}

/** If the load of a batch fails, each item is loaded separately, so that it fails only for its own reason. */
function gatherLoads<T, R>(
  load: (items: readonly T[]) => Promise<(item: T) => Promise<R>>,
): (item: T) => Promise<R> {
  const loadOne = async (item: T) => (await load([item]))(item);
  return inBatches<T, R>(async (calls) => {
    const read = await load(calls.map(({ item }) => item)).catch(() => loadOne);
    for (const { item, resolve } of calls) resolve(read(item));
  }, MOST_LOADED);
}
