// Shows how many nameservers have applied a change, and how long all of them took.

import { useEffect, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { api, dataOf } from '../../api/client.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { records } from '../../words/records.ts';

const WAIT_SECONDS = 1;
const PAUSE_AFTER_FAILURE_MS = 3000;
/** After this time the API is polled less often, because a nameserver may be offline for long. */
const HURRIED_ROUNDS = 60;
const PAUSE_MS = 10_000;

interface Seen {
  readonly seen: number;
  readonly live: number;
  /** Set when all nameservers have the change. */
  readonly afterMs?: number;
  readonly error?: ApiError;
}

export function Arrival({
  domain,
  changeId,
  sentMs,
}: {
  readonly domain: string;
  readonly changeId: number;
  /** From `performance.now()`. Undefined on the page of a change, which was made earlier. */
  readonly sentMs?: number;
}) {
  const [state, setState] = useState<Seen>();
  useEffect(() => {
    const ended = new AbortController();
    setState(undefined);
    void follow(domain, changeId, sentMs, setState, ended.signal);
    return () => ended.abort();
  }, [domain, changeId, sentMs]);
  const isThere = state?.afterMs !== undefined;
  const { seen = 0, live = 0 } = state ?? {};
  return (
    <div class={`note rec-arrival ${isThere ? 'good' : ''}`} role="status">
      <span aria-hidden="true" class="rec-arrival-mark">
        {isThere ? '✓' : '…'}
      </span>
      <span>
        {isThere
          ? records.arrived(live, sentMs === undefined ? undefined : (state?.afterMs ?? 0))
          : state === undefined
            ? records.arriving
            : records.arrivedAt(seen, live)}{' '}
        {state?.error !== undefined && records.arrivalUnknown}
      </span>
      {live > 0 && <progress class="rec-arrival-bar" max={live} value={seen} aria-hidden="true" />}
      {sentMs !== undefined && (
        <Link to={domainPath(domain, `history/${changeId}`)}>{records.changeLink(changeId)}</Link>
      )}
    </div>
  );
}

async function follow(
  domain: string,
  id: number,
  sentMs: number | undefined,
  tell: (seen: Seen) => void,
  signal: AbortSignal,
): Promise<void> {
  let last: Seen = { seen: 0, live: 0 };
  for (let round = 0; !signal.aborted; round++) {
    try {
      const path = { domain, id };
      const query = round === 0 ? {} : { wait: WAIT_SECONDS };
      const change = await dataOf(
        api.GET('/domains/{domain}/changes/{id}', { params: { path, query }, signal }),
      );
      if (signal.aborted) return;
      const afterMs = performance.now() - (sentMs ?? performance.now());
      last = { ...change.nodes, ...(change.in_sync && { afterMs }) };
      tell(last);
      if (change.in_sync) return;
      if (round > HURRIED_ROUNDS) await pause(PAUSE_MS);
    } catch (error) {
      if (signal.aborted) return;
      tell({ ...last, error: asApiError(error) });
      await pause(PAUSE_AFTER_FAILURE_MS);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
