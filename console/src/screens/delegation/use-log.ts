// The log of checks, newest first, loaded page by page.

import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { type Action, useAction } from '../../api/use-action.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import type { Check } from './use-checks.ts';

const PAGE = 25;

interface LogPage {
  readonly checks: readonly Check[];
  /** Cursor of the next page. */
  readonly cursor: string | undefined;
}

interface Log {
  readonly first: Loaded<LogPage>;
  readonly checks: readonly Check[];
  /** Undefined if everything is loaded. */
  readonly more: Action<[]> | undefined;
}

/** `news` increases when the first page must be reloaded. */
export function useLog(domain: string, news: number): Log {
  const [older, setOlder] = useState<readonly LogPage[]>([]);
  const first = useLoad(`log ${domain}`, (signal) => loadPage(domain, undefined, signal));
  useEffect(() => {
    if (news > 0) void first.reload();
  }, [news]);
  const last = older.at(-1) ?? first.data;
  const more = useAction(async () => {
    if (last?.cursor === undefined) return;
    const page = await loadPage(domain, last.cursor);
    setOlder((before) => [...before, page]);
  });
  const known = new Map<number, Check>();
  for (const page of [first.data, ...older])
    for (const check of page?.checks ?? []) known.set(check.id, check);
  const checks = [...known.values()].sort((a, b) => b.id - a.id);
  return { first, checks, more: last?.cursor === undefined ? undefined : more };
}

async function loadPage(domain: string, cursor: string | undefined, signal?: AbortSignal): Promise<LogPage> {
  const { data, response } = await api.GET('/domains/{domain}/checks', {
    params: { path: { domain }, query: { limit: PAGE, cursor } },
    signal,
  });
  return { checks: data ?? [], cursor: cursorOf(response.headers.get('Link')) };
}

function cursorOf(link: string | null): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined) return undefined;
  return new URL(target, location.origin).searchParams.get('cursor') ?? undefined;
}
