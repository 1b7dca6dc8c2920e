// An API with the embedded engine and randomly generated requests of a domain.

import { openAnalytics } from '../../../src/analytics/open-analytics.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { startTestApi, type TestApi } from '../api/api.ts';
import { type MadeRequest, makeRequests, storeRequests } from './made-requests.ts';
import { startAnalytics, type TestAnalytics } from './start-analytics.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const NAME = 'shop.test';
/** Number of buckets per period. */
export const PERIODS = { '3h': 3, '6h': 6, '12h': 12, '24h': 24, '7d': 7, '30d': 30 } as const;

interface RequestsApi extends TestApi {
  readonly engine: TestAnalytics;
  readonly domain: Domain;
  /** All stored lines of the domain, over 60 days. */
  readonly lines: readonly MadeRequest[];
}

/** Also has `other.test` with lines of the same hosts, and `quiet.test` without any. */
export async function startRequestsApi({ count = 40_000 } = {}): Promise<RequestsApi> {
  const engine = await startAnalytics();
  const store = openAnalytics(engine.url);
  const api = await startTestApi({ analytics: engine.url });
  const domain = await api.makeDomain(NAME);
  const other = await api.makeDomain('other.test');
  await api.makeDomain('quiet.test');
  const until = Date.now();
  const make = (domainId: number, days: number, share: number, seed: number) =>
    makeRequests({
      domainId,
      domain: NAME,
      count: Math.floor(count * share),
      from: until - days * DAY_MS,
      until,
      seed,
    });
  const lines = [
    ...make(domain.id, 59, 0.75, 1),
    ...make(domain.id, 1.1, 0.2, 2),
    ...make(domain.id, 1 / 24, 0.05, 3),
  ];
  await storeRequests(store, lines, 'lines');
  await storeRequests(store, make(other.id, 30, 0.1, 4), 'of-another-domain');
  await store.close();
  return {
    ...api,
    engine,
    domain,
    lines,
    async stop() {
      await api.stop();
      await engine.stop();
    },
  };
}

export function windowOf(period: keyof typeof PERIODS): { from: number; until: number; length: number } {
  const length = period.endsWith('h') ? HOUR_MS : DAY_MS;
  const until = Math.floor(Date.now() / length) * length + length;
  return { from: until - PERIODS[period] * length, until, length };
}
