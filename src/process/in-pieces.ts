// Runs long computations of the pure folders in pieces, with other work between the pieces.

import { setImmediate } from 'node:timers/promises';

export async function inPieces<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
    await setImmediate();
  }
}
