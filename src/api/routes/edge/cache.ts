// `POST /edge/v1/cache`: an edge says what it has cached, and what is gone. Its name is that of its token; hosts that it does not
// serve are left out.

import { foldReport } from '../../../edge/cached/cached-report.ts';
import { isRegistryAway } from '../../../store/cached/cache-registry.ts';
import { saveReport } from '../../../store/cached/save-report.ts';
import { findServedDomains } from '../../../store/cached/served-domains.ts';
import { invalid, unavailable } from '../../answers/problem.ts';
import { edgeRoute } from '../../calls/route.ts';
import { CacheReportBody, CacheReported } from '../../schemas/cache/cache-report.ts';

const REPORTS_A_MINUTE = 600;
const REPORT_BYTES = 1024 * 1024;
/** Names above the hosts of one report, which are looked up. */
const MOST_NAMES = 10_000;
const AWAY_SECONDS = 5;

export const reportCache = edgeRoute({
  method: 'POST',
  path: '/edge/v1/cache',
  operationId: 'reportCache',
  audit: { none: 'edges report what they have cached' },
  tag: 'Edges',
  summary: 'Says what the edge has cached, and what is gone.',
  description:
    'One report after the other, each repeated until it is answered: a repeat changes nothing. In order; of one entry the last word counts.',
  perMinute: REPORTS_A_MINUTE,
  bodyBytes: REPORT_BYTES,
  body: CacheReportBody,
  response: CacheReported,
  async run({ api: { db, cacheRegistry, countCacheEntries }, edge, body: { entries } }) {
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
      countCacheEntries?.({ ...saved, ignored });
      return { ...saved, ignored };
    } catch (error) {
      if (isRegistryAway(error))
        return unavailable('the cache registry cannot be reached; try again', AWAY_SECONDS);
      throw error;
    }
  },
});
