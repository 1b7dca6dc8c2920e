// An action of the person: has a busy state, prevents a second start, and keeps its error for display. If the screen has been left,
// the error is shown as a notification.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api-error.ts';
import { tellLate } from './send.ts';

export interface Action<A extends readonly unknown[]> {
  /** Resolves to true if it succeeded. */
  readonly run: (...args: A) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  readonly clear: () => void;
}

export function useAction<A extends readonly unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<{ isBusy: boolean; error?: ApiError }>({ isBusy: false });
  const latest = useRef(act);
  latest.current = act;
  const busy = useRef(false);
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  const run = useCallback(async (...args: A) => {
    if (busy.current) return false;
    busy.current = true;
    setState({ isBusy: true });
    try {
      await latest.current(...args);
      if (!gone.current) setState({ isBusy: false });
      return true;
    } catch (error) {
      if (gone.current) tellLate(asApiError(error));
      else setState({ isBusy: false, error: asApiError(error) });
      return false;
    } finally {
      busy.current = false;
    }
  }, []);
  const clear = useCallback(() => setState({ isBusy: false }), []);
  return { run, isBusy: state.isBusy, error: state.error, clear };
}
