// The secrets that a process was given go with its database, since whoever writes a signed zone needs its keys: every
// writer has the database, or a transaction of it, at hand.

import type { Database } from '../postgres/database.ts';
import type { KeyBoxes } from './key-boxes.ts';

/** By the adapter, which a database shares with its transactions. */
const boxesOf = new WeakMap<object, KeyBoxes>();

export function useKeyBoxes(db: Database, boxes: KeyBoxes): void {
  boxesOf.set(db.getExecutor().adapter, boxes);
}

/** Undefined: this process has no secrets, and cannot write signed zones. */
export function keyBoxesOf(db: Database): KeyBoxes | undefined {
  const boxes = boxesOf.get(db.getExecutor().adapter);
  return boxes?.canSeal ? boxes : undefined;
}
