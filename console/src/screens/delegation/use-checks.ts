// Loads the checks of a domain: all of the newest one, and the log page by page. Reloads after events of the domain, and
// periodically in case events are missed.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { followDomain } from '../../api/events.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import { useDomain } from '../domain/domain-here.ts';
import { type Progress, readProgress } from './read-progress.ts';

/** Also has the path from the root and glue, which some responses omit. */
export type Check = Omit<Schemas['Check'], 'evidence'> & {
  readonly walk?: readonly { readonly zone: string }[];
  readonly failure?: { readonly zone: string; readonly message: string };
  readonly evidence?: readonly (Evidence & {
    readonly glue?: readonly { readonly name: string; readonly address: string }[];
  })[];
};
type Evidence = NonNullable<Schemas['Check']['evidence']>[number];

/** Polling intervals while events arrive, while none arrive, and while nothing is expected. */
const ASK_MS = { followed: 120_000, waiting: 20_000, settled: 60_000 };

export interface Checks {
  /** `check` is undefined if there is none yet. */
  readonly latest: Loaded<{ readonly check: Check | undefined }>;
  /** Progress of a check that the person waits for. */
  readonly progress: Progress | undefined;
  readonly dropProgress: () => void;
  /** Increases when the log has a new entry. */
  readonly news: number;
  readonly reload: () => Promise<void>;
}

export function useChecks(): Checks {
  const { name, domain, reloadDomain } = useDomain();
  const [progress, setProgress] = useState<Progress>();
  const [news, setNews] = useState(0);
  const latest = useLoad(`check ${name}`, (signal) => loadLatest(name, signal));
  const isFollowed = useRef(false);
  const { reload: reloadLatest } = latest;

  // The check first: the new status of a domain next to the findings of the check before would contradict them.
  const reload = useCallback(async () => {
    await reloadLatest();
    await reloadDomain();
    setNews((before) => before + 1);
  }, [reloadLatest, reloadDomain]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Several events may belong to one change.
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void reload(), 150);
    };
    const end = followDomain(name, ({ type, data }) => {
      if (type === 'reset') return soon(); // also when the page becomes visible again without a stream
      isFollowed.current = true;
      if (type === 'progress') return setProgress(readProgress(data));
      if (type === 'check') setProgress(undefined);
      if (type === 'check' || type === 'status' || type === 'verification') soon();
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [name, reload]);

  const seen = `${domain.status} ${domain.next_check_at} ${domain.verification?.checked_at} ${domain.updated_at}`;
  const before = useRef(seen);
  useEffect(() => {
    if (before.current === seen) return;
    before.current = seen;
    void reloadLatest();
    setNews((count) => count + 1);
  }, [seen, reloadLatest]);

  const isSettled = domain.status === 'active' || domain.status === 'disabled' || domain.status === 'banned';
  useEffect(() => {
    const ask = () => {
      if (!document.hidden) void reloadDomain();
    };
    const every = isFollowed.current ? ASK_MS.followed : isSettled ? ASK_MS.settled : ASK_MS.waiting;
    const timer = setInterval(ask, every);
    return () => clearInterval(timer);
  }, [seen, isSettled, reloadDomain]);

  const dropProgress = useCallback(() => setProgress(undefined), []);
  return { latest, progress, dropProgress, news, reload };
}

async function loadLatest(domain: string, signal: AbortSignal): Promise<{ check: Check | undefined }> {
  const path = { domain };
  const [newest] = await dataOf(
    api.GET('/domains/{domain}/checks', { params: { path, query: { limit: 1 } }, signal }),
  );
  if (newest === undefined) return { check: undefined };
  const check = await dataOf(
    api.GET('/domains/{domain}/checks/{id}', { params: { path: { domain, id: newest.id } }, signal }),
  );
  return { check };
}
