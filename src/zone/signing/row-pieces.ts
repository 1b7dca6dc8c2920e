// Divides the rows of a large zone into pieces, each for a transaction of its own.

import type { OwnerRows } from './plan-rows.ts';

/** Rows per transaction, limited so that no lock is held for long. */
const PIECE_ROWS = 500;

export function* rowPieces(rows: Iterable<OwnerRows>, size = PIECE_ROWS): Generator<OwnerRows[]> {
  let piece: OwnerRows[] = [];
  let count = 0;
  for (const one of rows) {
    piece.push(one);
    count += one.records.length + 1; // and at least one removed row
    if (count < size) continue;
    yield piece;
    piece = [];
    count = 0;
  }
  if (piece.length > 0) yield piece;
}
