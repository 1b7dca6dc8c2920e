// Routes of edges: the stream of purges, reports of completed purges, and reports of cached entries.

import { z } from 'zod';
import { invalid, notFound, unavailable } from '../../api/answers/problem.ts';
import { StreamedLines } from '../../api/answers/streams.ts';
import { edge, route } from '../../api/calls/route.ts';
import { EdgePurgeBody, PurgeLines } from '../../api/schemas/edge.ts';
import { idText, Message } from '../../api/schemas/fields.ts';
import { foldReport } from './rules.ts';
import { CacheReportBody, CacheReported } from './schema.ts';
import { CACHE_REGISTRY, COUNT_ENTRIES, PURGE_FEED, type PurgeFeed } from './services.ts';
import { removePurged } from './sql-entries.ts';
import { type OpenPurge, reportPurge } from './sql-purges.ts';
import { findServedDomains, isRegistryUnavailable } from './sql-registry.ts';
import { saveReport } from './sql-report.ts';

const STREAMS_A_MINUTE = 60;
/** The number of purges sent at a time, plus some repeated reports. */
const REPORTS_A_MINUTE = 1200;
const REPORT_BYTES = 4096;

const followPurges = route(edge(STREAMS_A_MINUTE), {
  method: 'GET',
  path: '/edge/v1/purges',
  operationId: 'followPurges',
  tag: 'Edges',
  summary: 'Purges that the edge has not completed yet.',
  description:
    'The response is a stream that does not end. Purges that the edge does not report as completed are sent again in its next stream.',
  response: PurgeLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed, services }, edge, gone }) {
    const purges = services.get(PURGE_FEED);
    if (edgeFeed === undefined || purges === undefined) return unavailable('edges are not served here', 60);
    const { ended, leave } = edgeFeed.join(edge);
    const leavePurges = purges.join(edge.id);
    const leaveBoth = () => {
      leave();
      leavePurges();
    };
    const over = AbortSignal.any([gone, ended]);
    over.addEventListener('abort', leaveBoth);
    if (over.aborted) leaveBoth();
    return new StreamedLines(streamPurges(purges, { edgeId: edge.id, ended: over }), leaveBoth);
  },
});

const reportEdgePurge = route(edge(REPORTS_A_MINUTE), {
  method: 'POST',
  path: '/edge/v1/purges/{id}',
  operationId: 'reportPurge',
  audit: { none: 'edges report purges that were sent to them' },
  tag: 'Edges',
  summary: 'Reports that a purge is completed, or why it failed.',
  description: 'With `error`, the purge stays open and is sent again in the next stream.',
  params: z.object({ id: idText }),
  body: EdgePurgeBody.nullish(),
  bodyBytes: REPORT_BYTES,
  response: Message,
  async run({ api: { db, services }, edge, params: { id }, body }) {
    const purge = await reportPurge(db, edge.id, id, body?.error);
    if (purge === undefined) return notFound('purge');
    // In the background: if the registry is unavailable, the edge's own report will list the removed entries.
    if (body?.error === undefined)
      services.get(CACHE_REGISTRY)?.inBackground((registry) => removePurged(registry, edge.name, purge));
    return { message: 'noted' };
  },
});

const CACHE_REPORTS_A_MINUTE = 600;
const CACHE_REPORT_BYTES = 1024 * 1024;
/** Maximum number of names looked up for the hosts of one report, parents included. */
const MOST_NAMES = 10_000;
const AWAY_SECONDS = 5;

const reportCache = route(edge(CACHE_REPORTS_A_MINUTE), {
  method: 'POST',
  path: '/edge/v1/cache',
  operationId: 'reportCache',
  audit: { none: 'edges report what they have cached' },
  tag: 'Edges',
  summary: 'Reports entries that the edge has cached or removed.',
  description:
    'Send one report at a time, and repeat it until it is answered. A repeat changes nothing. Operations apply in order, so the last one of an entry counts.',
  bodyBytes: CACHE_REPORT_BYTES,
  body: CacheReportBody,
  response: CacheReported,
  async run({ api: { db, services }, edge, body: { entries } }) {
    const cacheRegistry = services.get(CACHE_REGISTRY);
    if (cacheRegistry === undefined) return unavailable('there is no cache registry here', AWAY_SECONDS);
    const stored = entries.filter((entry) => entry.op === 'stored');
    const hosts = new Set(stored.map(({ host }) => host));
    const served = await findServedDomains(db, edge.region, hosts, MOST_NAMES);
    if (served === undefined)
      return invalid([{ field: 'entries', error: 'has too many different hosts: send it in parts' }]);
    const folded = foldReport(entries, (host) => served.get(host));
    try {
      const saved = await saveReport(await cacheRegistry.database(), edge.name, folded);
      const ignored = folded.foreign + folded.stored.length - saved.stored;
      services.get(COUNT_ENTRIES)?.({ ...saved, ignored });
      return { ...saved, ignored };
    } catch (error) {
      if (isRegistryUnavailable(error))
        return unavailable('the cache registry cannot be reached; try again', AWAY_SECONDS);
      throw error;
    }
  },
});

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = '{}\n';

interface PurgeStreamOptions {
  readonly edgeId: number;
  /** Aborted when the edge disconnects, when its token becomes invalid, or when this process stops. */
  readonly ended: AbortSignal;
  readonly heartbeatMs?: number;
}

/** Yields chunks of whole lines until `ended` aborts. */
export async function* streamPurges(
  feed: Pick<PurgeFeed, 'openOf' | 'read'>,
  { edgeId, ended, heartbeatMs = HEARTBEAT_MS }: PurgeStreamOptions,
): AsyncGenerator<string> {
  let sent = new Set<number>();
  yield HEARTBEAT; // the edge knows immediately that it is connected
  let sentAtMs = performance.now();
  while (!ended.aborted) {
    const open = feed.openOf(edgeId);
    const unsent = open.filter(({ id }) => !sent.has(id));
    sent = new Set(open.map(({ id }) => id));
    const isSilent = performance.now() - sentAtMs >= heartbeatMs;
    if (unsent.length > 0 || isSilent) {
      yield unsent.length > 0 ? unsent.map(lineOf).join('') : HEARTBEAT;
      sentAtMs = performance.now();
    }
    await feed.read(Math.max(0, sentAtMs + heartbeatMs - performance.now()), ended);
  }
}

function lineOf({ id, domainId, domain, target }: OpenPurge): string {
  return `${JSON.stringify({ id, domain_id: domainId, domain, target })}\n`;
}

export const EDGE_CACHE_ROUTES = [followPurges, reportEdgePurge, reportCache];
