// Does long work of the pure folders piece by piece: between two pieces all other work has its turn.

import { setImmediate } from 'node:timers/promises';

export async function inPieces<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
    await setImmediate();
  }
}
