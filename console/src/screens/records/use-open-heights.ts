// Measures the heights of open rows when they are rendered and when their content changes.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RowKey } from './draft.ts';

export interface OpenHeights {
  readonly of: (key: RowKey, byDefault: number) => number;
  /** For the `ref` of an open row. */
  readonly measure: (element: HTMLElement | null) => void;
}

export function useOpenHeights(): OpenHeights {
  const heights = useRef(new Map<RowKey, number>());
  const [drawn, draw] = useState(0);
  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        let isOther = false;
        for (const { target } of entries) {
          const { key } = (target as HTMLElement).dataset;
          const height = (target as HTMLElement).offsetHeight;
          if (key === undefined || height === 0 || heights.current.get(key) === height) continue;
          heights.current.set(key, height);
          isOther = true;
        }
        if (isOther) draw((turn) => turn + 1);
      }),
    [],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  useEffect(() => {
    // A form that has just been opened or has grown may end below the visible part.
    document.activeElement?.closest('.rec-open')?.scrollIntoView({ block: 'nearest' });
  }, [drawn]);
  return useMemo(
    () => ({
      of: (key, byDefault) => heights.current.get(key) ?? byDefault,
      measure: (element) => {
        if (element !== null) observer.observe(element);
      },
    }),
    [observer],
  );
}
