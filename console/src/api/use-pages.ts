// A list that is read page by page, as the person asks for more: what is shown stays while the next page comes.

import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api-error.ts';
import { nextCursor, previousCursor } from './link-header.ts';
import { type Loaded, useLoad } from './use-load.ts';

export interface ListPage<T> {
  readonly items: readonly T[];
  /** Absent: there is no more. */
  readonly cursor: string | undefined;
  /** Of the page before. */
  readonly previous?: string | undefined;
}

export interface Pages<T> {
  readonly loaded: Loaded<ListPage<T>>;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly moreError: ApiError | undefined;
  readonly more: () => Promise<void>;
}

/** A page out of an answer with its `Link` header. */
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
