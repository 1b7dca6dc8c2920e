// Reports whether the table is too narrow for one line per record. Its width depends on the window and on the navigation.

import { useLayoutEffect, useState } from 'preact/hooks';

const LEAST_WIDE_PX = 790;

export function useNarrow(table: { readonly current: HTMLElement | null }): boolean {
  const [isNarrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const element = table.current;
    if (element === null) return;
    const measure = () => setNarrow(element.clientWidth < LEAST_WIDE_PX);
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return isNarrow;
}
