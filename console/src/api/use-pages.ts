// A list that is loaded page by page on request. The shown items stay while the next page loads.

import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api-error.ts';
import { nextCursor, previousCursor } from './link-header.ts';
import { type Loaded, useLoad } from './use-load.ts';

export interface ListPage<T> {
  readonly items: readonly T[];
  /** Absent on the last page. */
  readonly cursor: string | undefined;
  /** Cursor from the previous page. */
  readonly previous?: string | undefined;
}

export interface Pages<T> {
  readonly loaded: Loaded<ListPage<T>>;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly moreError: ApiError | undefined;
  readonly more: () => Promise<void>;
}

/** Returns the page of a response with a `Link` header. */
export async function pageOf<T>(
  answer: Promise<{ data?: T[] | undefined; response: Response }>,
): Promise<ListPage<T>> {
  const { data, response } = await answer;
  const link = response.headers.get('Link');
  return { items: data ?? [], cursor: nextCursor(link), previous: previousCursor(link) };
}

export function usePages<T>(
  key: string,
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<ListPage<T>>,
): Pages<T> {
  const loaded = useLoad<ListPage<T>>(key, (signal) => load(undefined, signal));
  const [state, setState] = useState<{ isLoading: boolean; error?: ApiError }>({ isLoading: false });
  const more = async () => {
    const before = loaded.data;
    if (before?.cursor === undefined || state.isLoading) return;
    setState({ isLoading: true });
    try {
      const page = await load(before.cursor);
      loaded.set({ items: [...before.items, ...page.items], cursor: page.cursor });
      setState({ isLoading: false });
    } catch (error) {
      setState({ isLoading: false, error: asApiError(error) });
    }
  };
  return {
    loaded,
    hasMore: loaded.data?.cursor !== undefined,
    isLoadingMore: state.isLoading,
    moreError: state.error,
    more,
  };
}
