// If the focused element disappears (a closed dialog, a finished button), browsers drop the focus, and keyboard users start again
// at the top of the page. This moves the focus to the screen, or to the dialog above it.

import { useEffect } from 'preact/hooks';

export function useFocusHeld(screen: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    let last: Element | undefined;
    const note = (event: FocusEvent) => {
      last = event.target as Element;
    };
    const look = () => {
      if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
      last = undefined;
      const dialog = document.querySelector<HTMLElement>('dialog:modal');
      (dialog ?? screen.current)?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(look);
    document.addEventListener('focusin', note);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', note);
    };
  }, [screen]);
}
