// Refreshes data while the page is visible, and shows its age.

import { useEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Time } from '../../parts/time.tsx';
import { operator } from '../../words/operator.ts';

const EVERY_MS = 10_000;

type Watched = Pick<Loaded<unknown>, 'data' | 'error' | 'isLoading' | 'reload'>;

/** Calls the function every 10 seconds while the tab is visible, and immediately when it becomes visible again. */
export function useEvery10s(reload: () => unknown, isWanted = true): void {
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    if (!isWanted) return;
    const look = () => {
      if (!document.hidden) latest.current();
    };
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [isWanted]);
}

/** Time at which the shown data was loaded. */
function useSeenAt(loaded: Watched): string | undefined {
  const seen = useRef<{ data: unknown; at: string }>(undefined);
  if (loaded.data !== undefined && seen.current?.data !== loaded.data) {
    seen.current = { data: loaded.data, at: new Date().toISOString() };
  }
  return loaded.data === undefined ? undefined : seen.current?.at;
}

export function Freshness({ of }: { readonly of: Watched }) {
  const seenAt = useSeenAt(of);
  return (
    <div class="row ope-fresh">
      {seenAt !== undefined && (
        <span class={of.error === undefined ? 'quiet' : 'problem'}>
          {of.error === undefined ? operator.fresh : operator.stale} <Time at={seenAt} />
        </span>
      )}
      <Button aria-busy={of.isLoading} onClick={() => void of.reload()}>
        {operator.refresh}
      </Button>
    </div>
  );
}
