// The turns of an analytics store: all calls of this process that ask it share them.

import { QueryTurns } from './query-turns.ts';

const OF_STORES = new WeakMap<object, QueryTurns>();

export function turnsOf(store: object): QueryTurns {
  const turns = OF_STORES.get(store) ?? new QueryTurns();
  OF_STORES.set(store, turns);
  return turns;
}
