// Routes of edges: their stream of purges, completed purges, and reports of cached entries.

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
import { findServedDomains, isRegistryAway } from './sql-registry.ts';
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
  summary: 'What the edge has to take out of its cache, and has not yet.',
  description:
    'The answer does not end by itself. What the edge was told and did not report is told again by its next stream.',
  response: PurgeLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed, services }, edge, gone }) {
    const purges = services.get(PURGE_FEED);
    if (edgeFeed === undefined || purges === undefined) return unavailable('no edge is served here', 60);
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
  audit: { none: 'edges report what they were told to do' },
  tag: 'Edges',
  summary: 'Says that a purge is done, or why it could not be.',
  description: 'With `error` it stays to be done, and is told again by the next stream.',
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
  summary: 'Says what the edge has cached, and what is gone.',
  description:
    'One report after the other, each repeated until it is answered: a repeat changes nothing. In order; of one entry the last word counts.',
  bodyBytes: CACHE_REPORT_BYTES,
  body: CacheReportBody,
  response: CacheReported,
  async run({ api: { db, services }, edge, body: { entries } }) {
    const cacheRegistry = services.get(CACHE_REGISTRY);
    if (cacheRegistry === undefined) return unavailable('there is no cache registry here', AWAY_SECONDS);
    const told = entries.filter((word) => word.op === 'stored');
    const hosts = new Set(told.map(({ host }) => host));
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
      if (isRegistryAway(error))
        return unavailable('the cache registry cannot be reached; try again', AWAY_SECONDS);
      throw error;
    }
  },
});

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

export const EDGE_CACHE_ROUTES = [followPurges, reportEdgePurge, reportCache];
