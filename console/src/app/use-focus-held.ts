// What has the focus may go: a dialog that closes, a button whose work is done, a form that becomes its result. Then browsers
// put the focus nowhere, and a keyboard begins again at the top of the page. The screen gets it instead, or the dialog over it.

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
