// Selects the rows to render: the visible ones, those that become visible in several frames, so that scrolling never waits
// for all of them.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowKey } from './draft.ts';
import type { Row } from './rows.ts';
import { drawSome, FIRST_SHARE, type List, nextShare, rowsInSight } from './window-rows.ts';

interface DrawnRowsProps {
  readonly body: { readonly current: HTMLElement | null };
  readonly list: List;
  readonly rows: readonly Row[];
  /** Indexes of the rows that are rendered immediately and wherever they are. */
  readonly always: readonly number[];
}

/** Returns the indexes of the rows to render now, sorted. */
export function useDrawnRows({ body, list, rows, always }: DrawnRowsProps): readonly number[] {
  const { rowHeight } = list;
  const [sight, setSight] = useState({ top: 0, height: innerHeight });
  const [, drawMore] = useState(0);
  const there = useRef<ReadonlySet<RowKey>>(new Set());
  const share = useRef(FIRST_SHARE);
  /** When some of the rows were drawn; undefined if all are. */
  const drawnMs = useRef<number | undefined>(undefined);
  const frame = useRef(0);

  const measure = () => {
    const top = -(body.current?.getBoundingClientRect().top ?? 0);
    const step = Math.max(0, Math.floor(top / (4 * rowHeight)) * 4 * rowHeight);
    const height = innerHeight + 4 * rowHeight;
    setSight((before) => (before.top === step && before.height === height ? before : { top: step, height }));
  };
  // One callback per frame, which measures before it renders: a second rendering would also compute the layout twice.
  const drawInNextFrame = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (drawnMs.current !== undefined) {
        share.current = nextShare(share.current, performance.now() - drawnMs.current);
        drawMore((turn) => turn + 1);
      }
      measure();
    });
  };
  useEffect(() => {
    measure();
    addEventListener('scroll', drawInNextFrame, { passive: true });
    addEventListener('resize', measure);
    return () => {
      cancelAnimationFrame(frame.current);
      removeEventListener('scroll', drawInNextFrame);
      removeEventListener('resize', measure);
    };
  }, [rowHeight]);

  const wanted = rowsInSight(list, sight.top, sight.height, always);
  const keyOf = (index: number) => rows[index]?.key ?? '';
  const isUrgent = (index: number) => there.current.has(keyOf(index)) || always.includes(index);
  const drawn = drawSome(wanted, isUrgent, share.current);
  useLayoutEffect(() => {
    there.current = new Set(drawn.map(keyOf));
    drawnMs.current = drawn.length === wanted.length ? undefined : performance.now();
    if (drawnMs.current !== undefined) drawInNextFrame();
  });
  return drawn;
}
