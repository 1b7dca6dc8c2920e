// Loads the data of a screen, and reloads it if the key changes or on request. The previous data stays meanwhile, and an error is
// shown next to it.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api-error.ts';

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Reloads the data. */
  readonly reload: () => Promise<void>;
  /** Sets the data to the response of a write. */
  readonly set: (data: T) => void;
}

interface State<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: ApiError;
  readonly isLoading: boolean;
}

/** `key` identifies the data. If it changes, the previous data is no longer shown. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key, isLoading: true });
  const turn = useRef<AbortController | undefined>(undefined);
  const latest = useRef(load);
  latest.current = load;

  const reload = useCallback(async () => {
    turn.current?.abort();
    const mine = new AbortController();
    turn.current = mine;
    setState((before) => ({ ...(before.key === key && before), key, isLoading: true }));
    try {
      const data = await latest.current(mine.signal);
      if (!mine.signal.aborted) setState({ key, data, isLoading: false });
    } catch (error) {
      if (mine.signal.aborted) return;
      setState((before) => ({ ...before, key, error: asApiError(error), isLoading: false }));
    }
  }, [key]);

  useEffect(() => {
    void reload();
    return () => turn.current?.abort();
  }, [reload]);

  const set = useCallback((data: T) => setState({ key, data, isLoading: false }), [key]);
  const isShown = state.key === key;
  return {
    data: isShown ? state.data : undefined,
    error: isShown ? state.error : undefined,
    isLoading: !isShown || state.isLoading,
    reload,
    set,
  };
}
