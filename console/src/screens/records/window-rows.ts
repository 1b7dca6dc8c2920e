// Computes the visible rows of a long list. All rows have the same height, except for taller ones.

/** An open row, or one with a message. */
export interface TallRow {
  readonly index: number;
  /** Additional height. */
  readonly extra: number;
}

export interface List {
  readonly count: number;
  readonly rowHeight: number;
  /** Sorted by index. */
  readonly tall: readonly TallRow[];
}

export function offsetOf({ rowHeight, tall }: List, index: number): number {
  let offset = index * rowHeight;
  for (const row of tall) {
    if (row.index >= index) break;
    offset += row.extra;
  }
  return offset;
}

export function heightOf(list: List): number {
  return offsetOf(list, list.count);
}

/** Returns the row at a position, limited to the first and last row. */
export function indexAt(list: List, offset: number): number {
  let low = 0;
  let high = Math.max(0, list.count - 1);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsetOf(list, middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Scrolling by a few rows keeps the same slice, so that nothing is rendered. */
const STEP = 8;

/** Rows that are rendered per frame initially; more take longer than one frame. */
export const FIRST_SHARE = 6;
const LEAST_SHARE = 2;
const MOST_SHARE = 16;
/** Two frames at 60 Hz: a longer frame missed one. */
const LATE_MS = 33;

/** Returns the wanted rows that are already rendered and at most `share` others; later frames render the rest. */
export function drawSome(
  wanted: readonly number[],
  isThere: (index: number) => boolean,
  share: number,
): readonly number[] {
  let added = 0;
  return wanted.filter((index) => isThere(index) || ++added <= share);
}

/** Number of rows for the next frame, adapted to the duration of the last one. */
export function nextShare(share: number, frameMs: number): number {
  return frameMs > LATE_MS ? Math.max(LEAST_SHARE, Math.floor(share / 2)) : Math.min(MOST_SHARE, share + 1);
}

/** Indexes to render, sorted: the visible rows with some around them, and `always` (focused or open rows). */
export function rowsInSight(list: List, top: number, height: number, always: readonly number[]): number[] {
  if (list.count === 0) return [];
  const first = indexAt(list, top);
  const last = indexAt(list, top + height);
  const from = Math.max(0, Math.floor(first / STEP) * STEP - STEP);
  const to = Math.min(list.count, Math.ceil((last + 1) / STEP) * STEP + STEP);
  const drawn = new Set<number>();
  for (let i = from; i < to; i++) drawn.add(i);
  for (const index of always) if (index >= 0 && index < list.count) drawn.add(index);
  return [...drawn].sort((a, b) => a - b);
}
