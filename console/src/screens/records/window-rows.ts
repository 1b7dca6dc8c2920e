// Which rows of a long list are in sight. Rows have one height, but for the few that are open and are as high as they are.

export interface OpenRow {
  readonly index: number;
  /** Beyond the common height. */
  readonly extra: number;
}

export interface List {
  readonly count: number;
  readonly rowHeight: number;
  /** By index, ascending. */
  readonly open: readonly OpenRow[];
}

export function offsetOf({ rowHeight, open }: List, index: number): number {
  let offset = index * rowHeight;
  for (const row of open) {
    if (row.index >= index) break;
    offset += row.extra;
  }
  return offset;
}

export function heightOf(list: List): number {
  return offsetOf(list, list.count);
}

/** The row at a place; before the list the first, behind it the last. */
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

/** Scrolling by a few rows shows the same slice, so that it draws nothing. */
const STEP = 8;

/** Rows that are drawn anew in one frame: more of them take longer than a frame has. */
export const FIRST_SHARE = 6;
const LEAST_SHARE = 2;
const MOST_SHARE = 16;
/** Two frames of a screen with 60 a second: one was missed. */
const LATE_MS = 33;

/** Of the wanted rows those that are there, and at most `share` others: the next frames draw the rest. */
export function drawSome(
  wanted: readonly number[],
  isThere: (index: number) => boolean,
  share: number,
): readonly number[] {
  let added = 0;
  return wanted.filter((index) => isThere(index) || ++added <= share);
}

/** The share of the next frame, by how long the last one took: as much as this machine draws without missing one. */
export function nextShare(share: number, frameMs: number): number {
  return frameMs > LATE_MS ? Math.max(LEAST_SHARE, Math.floor(share / 2)) : Math.min(MOST_SHARE, share + 1);
}

/** The rows to draw, in order: those in sight with some around, and `always` (what has the focus, or is open). */
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
