// Runs divided work without interruption, for callers with no other work to do.

export function inOneGo<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
  }
}
