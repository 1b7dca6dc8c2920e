// Rendering a list may move the focused element, which then loses the focus in browsers. This restores the focus.

import { useLayoutEffect } from 'preact/hooks';

export function useFocusKept(inside: { readonly current: HTMLElement | null }): void {
  const before = document.activeElement; // read while rendering, before anything moves
  useLayoutEffect(() => {
    const isLost = document.activeElement === document.body && before !== document.body;
    if (isLost && before instanceof HTMLElement && inside.current?.contains(before) === true) {
      before.focus({ preventScroll: true });
    }
  });
}
