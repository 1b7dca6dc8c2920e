// Renders rows that become visible in several frames, so that scrolling never waits for all of them.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowKey } from './draft.ts';
import type { Row } from './rows.ts';
import { drawSome, FIRST_SHARE, nextShare } from './window-rows.ts';

/** Returns the indexes of the wanted rows to render now. `isUrgent` renders all immediately. */
export function useDrawnRows(
  wanted: readonly number[],
  rows: readonly Row[],
  isUrgent: (index: number) => boolean,
): readonly number[] {
  const there = useRef<ReadonlySet<RowKey>>(new Set());
  const share = useRef(FIRST_SHARE);
  const [, drawMore] = useState(0);
  const keyOf = (index: number) => rows[index]?.key ?? '';
  const drawn = drawSome(
    wanted,
    (index) => there.current.has(keyOf(index)) || isUrgent(index),
    share.current,
  );
  useLayoutEffect(() => {
    there.current = new Set(drawn.map(keyOf));
    if (drawn.length === wanted.length) return;
    const drawnMs = performance.now();
    const frame = requestAnimationFrame(() => {
      share.current = nextShare(share.current, performance.now() - drawnMs);
      drawMore((turn) => turn + 1);
    });
    return () => cancelAnimationFrame(frame);
  });
  return drawn;
}
