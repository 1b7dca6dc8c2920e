// Work that can be done in pieces, done without a break by whoever has nothing else to do.

export function inOneGo<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
  }
}
