// Asks the analytics store for a caller: in turn, and not longer than the question may take with its wait. What goes wrong becomes an
// answer that tells nothing of the inside. A query whose caller has gone is cancelled.

import { setTimeout as pause } from 'node:timers/promises';
import { AnalyticsFault } from '../../analytics/open-analytics.ts';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import { Problem, unavailable } from '../answers/problem.ts';
import type { CallOf } from '../calls/call.ts';
import { TooManyQueries } from './query-turns.ts';
import { turnsOf } from './store-turns.ts';

type AnyCall = Pick<CallOf<'domain'>, 'api' | 'caller' | 'domain' | 'gone' | 'log'>;

/** The store may end a query a little later than it was told to. */
const GRACE_MS = 500;
/** A query whose caller has gone may take so long before it is cancelled: most end meanwhile, and their place is free at once. */
const LEFT_MS = 1000;
const RETRY_SECONDS = 60;

export async function askStore<T>(
  { api, caller, domain, gone, log }: AnyCall,
  seconds: number,
  question: (asking: Asking) => Promise<T>,
): Promise<T | Problem> {
  const store = api.analytics;
  if (store === undefined) return unavailable('there is no analytics store', RETRY_SECONDS);
  const ended = new AbortController();
  const end = (kind: AnalyticsFault['kind'], why: string) => ended.abort(new AnalyticsFault(kind, why));
  const timer = setTimeout(() => end('slow', `not within ${seconds} s`), seconds * 1000 + GRACE_MS);
  const leave = () => end('away', 'the caller has gone');
  gone.addEventListener('abort', leave, { once: true });
  if (gone.aborted) leave();
  try {
    const asker = { accountId: caller.account.id, domainId: domain.id };
    const giveBack = await turnsOf(store).take(asker, ended.signal);
    const query = new AbortController();
    const answer = question({ store, seconds, signal: query.signal });
    void holdPlace(answer, { query, gone, seconds }).finally(giveBack);
    return await unlessEnded(answer, ended.signal, query);
  } catch (error) {
    if (error instanceof TooManyQueries)
      return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': '1' } });
    if (!(error instanceof AnalyticsFault)) throw error;
    if (error.kind === 'absent') return unavailable('the analytics store is not there yet', RETRY_SECONDS);
    // What is refused is a bug of ours.
    if (error.kind === 'refused') log.error({ err: error }, 'the analytics store refused a query');
    else if (!gone.aborted) log.warn({ err: error }, 'the analytics store did not answer');
    return new Problem(500, 'query failed');
  } finally {
    clearTimeout(timer);
    gone.removeEventListener('abort', leave);
  }
}

/** A store that hangs may not even hear that the query is cancelled. */
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
 * Until the query has ended. The embedded engine ends none before its time: so the place of one that was cancelled is held
 * as long as it may run, or who asks and hangs up again and again would have the engine to itself.
 */
async function holdPlace(answer: Promise<unknown>, { query, gone, seconds }: Held): Promise<void> {
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
