// One thing that a person does: shows that it is under way, cannot be done twice at once, and keeps its failure to be told.
// When the place is gone where it would be told, it is told as a message.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api-error.ts';
import { tellLate } from './send.ts';

export interface Action<A extends readonly unknown[]> {
  /** Resolves to whether it succeeded. */
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
