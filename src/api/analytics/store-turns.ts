// The query slots of an analytics store, shared by all calls of this process.

import { QueryTurns } from './query-turns.ts';

const BY_STORE = new WeakMap<object, QueryTurns>();

export function turnsOf(store: object): QueryTurns {
  const turns = BY_STORE.get(store) ?? new QueryTurns();
  BY_STORE.set(store, turns);
  return turns;
}
