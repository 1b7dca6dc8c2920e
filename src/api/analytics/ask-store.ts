// Queries the analytics store for a caller: waits for a slot, and limits the total time. Errors are answered without
// internal details. A query whose client has disconnected is cancelled.

import { setTimeout as pause } from 'node:timers/promises';
import { AnalyticsFault } from '../../analytics/open-analytics.ts';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import { Problem, problem, unavailable } from '../answers/problem.ts';
import type { CallOf } from '../calls/call.ts';
import { TooManyQueries } from './query-turns.ts';
import { turnsOf } from './store-turns.ts';

type AnyCall = Pick<CallOf<'domain'>, 'api' | 'caller' | 'domain' | 'gone' | 'log'>;

/** The store may end a query slightly later than its limit. */
const GRACE_MS = 500;
/** Delay before the query of a disconnected client is cancelled. Most queries end earlier. */
const LEFT_MS = 1000;
const RETRY_SECONDS = 60;

export async function askStore<T>(
  { api, caller, domain, gone, log }: AnyCall,
  seconds: number,
  question: (asking: Asking) => Promise<T>,
): Promise<T | Problem> {
  const store = api.analytics;
  if (store === undefined) return problem('analytics_off', 'no analytics store is set up');
  const ended = new AbortController();
  const end = (kind: AnalyticsFault['kind'], why: string) => ended.abort(new AnalyticsFault(kind, why));
  const timer = setTimeout(() => end('slow', `no result within ${seconds} s`), seconds * 1000 + GRACE_MS);
  const leave = () => end('away', 'the client has disconnected');
  gone.addEventListener('abort', leave, { once: true });
  if (gone.aborted) leave();
  try {
    const asker = { accountId: caller.account.id, domainId: domain.id };
    const release = await turnsOf(store).take(asker, ended.signal);
    const query = new AbortController();
    const answer = question({ store, seconds, signal: query.signal });
    void holdSlot(answer, { query, gone, seconds }).finally(release);
    return await unlessEnded(answer, ended.signal, query);
  } catch (error) {
    if (error instanceof TooManyQueries)
      return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': '1' } });
    if (!(error instanceof AnalyticsFault)) throw error;
    if (error.kind === 'absent')
      return unavailable('the analytics store is not reachable yet', RETRY_SECONDS);
    // A refused query is a bug of this project.
    if (error.kind === 'refused') log.error({ err: error }, 'the analytics store refused a query');
    else if (!gone.aborted) log.warn({ err: error }, 'the analytics store did not answer');
    return new Problem(500, 'query failed');
  } finally {
    clearTimeout(timer);
    gone.removeEventListener('abort', leave);
  }
}

/** A store that hangs may not even react when the query is cancelled. */
async function unlessEnded<T>(answer: Promise<T>, ended: AbortSignal, query: AbortController): Promise<T> {
  let end = () => {};
  const ending = new Promise<never>((_, reject) => {
    end = () => {
      if ((ended.reason as AnalyticsFault).kind === 'slow') query.abort(ended.reason);
      reject(ended.reason);
    };
    if (ended.aborted) end();
    else ended.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([answer, ending]);
  } finally {
    ended.removeEventListener('abort', end);
  }
}

interface Held {
  readonly query: AbortController;
  readonly gone: AbortSignal;
  readonly seconds: number;
}

/**
 * Waits until the query has ended. The embedded engine cannot end a query early, so a cancelled query keeps its slot
 * for as long as it may run. Otherwise, a client that repeatedly queries and disconnects could occupy the engine
 * alone.
 */
async function holdSlot(answer: Promise<unknown>, { query, gone, seconds }: Held): Promise<void> {
  const begun = performance.now();
  let cancelling: NodeJS.Timeout | undefined;
  const cancel = () => {
    cancelling = setTimeout(() => query.abort(new AnalyticsFault('away', 'cancelled')), LEFT_MS);
  };
  gone.addEventListener('abort', cancel, { once: true });
  if (gone.aborted) cancel();
  await answer.catch(() => {});
  gone.removeEventListener('abort', cancel);
  clearTimeout(cancelling);
  const left = seconds * 1000 - (performance.now() - begun);
  if (query.signal.aborted && left > 0) await pause(left, undefined, { ref: false });
}
