// Drawing a list again may move the element that has the focus, and browsers take the focus from what is moved: it gets it back.

import { useLayoutEffect } from 'preact/hooks';

export function useFocusKept(inside: { readonly current: HTMLElement | null }): void {
  const before = document.activeElement; // while drawing: nothing has moved yet
  useLayoutEffect(() => {
    const isLost = document.activeElement === document.body && before !== document.body;
    if (isLost && before instanceof HTMLElement && inside.current?.contains(before) === true) {
      before.focus({ preventScroll: true });
    }
  });
}
