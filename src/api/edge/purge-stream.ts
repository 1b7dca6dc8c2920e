// What one edge is told to purge: all that it has not done yet, then what comes. A line that the edge did not act on comes again
// with its next stream.

import type { OpenPurge } from '../../store/purges/open-purges.ts';
import type { PurgeFeed } from './purge-feed.ts';

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = '{}\n';

interface PurgeStreamOptions {
  readonly edgeId: number;
  /** The edge has gone, its token counts no more, or this process stops. */
  readonly ended: AbortSignal;
  readonly heartbeatMs?: number;
}

/** Pieces of whole lines, until `ended`. */
export async function* streamPurges(
  feed: Pick<PurgeFeed, 'openOf' | 'read'>,
  { edgeId, ended, heartbeatMs = HEARTBEAT_MS }: PurgeStreamOptions,
): AsyncGenerator<string> {
  let told = new Set<number>();
  yield HEARTBEAT; // it knows at once that it is heard
  let toldAtMs = performance.now();
  while (!ended.aborted) {
    const open = feed.openOf(edgeId);
    const news = open.filter(({ id }) => !told.has(id));
    told = new Set(open.map(({ id }) => id));
    const isSilent = performance.now() - toldAtMs >= heartbeatMs;
    if (news.length > 0 || isSilent) {
      yield news.length > 0 ? news.map(lineOf).join('') : HEARTBEAT;
      toldAtMs = performance.now();
    }
    await feed.read(Math.max(0, toldAtMs + heartbeatMs - performance.now()), ended);
  }
}

function lineOf({ id, domainId, domain, target }: OpenPurge): string {
  return `${JSON.stringify({ id, domain_id: domainId, domain, target })}\n`;
}
