// Long work of the pure folders, done piece by piece: between two pieces everything else has its turn.

import { setImmediate } from 'node:timers/promises';

export async function inPieces<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
    await setImmediate();
  }
}
