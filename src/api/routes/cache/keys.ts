// Browsing what edges have cached of a domain.

import { isRegistryAway } from '../../../store/cached/cache-registry.ts';
import { listEntries } from '../../../store/cached/list-entries.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { QueryTurns, TooManyQueries } from '../../analytics/query-turns.ts';
import { Problem, unavailable } from '../../answers/problem.ts';
import { domainRoute } from '../../calls/route.ts';
import { CachedEntries, CachedEntriesQuery } from '../../schemas/cache/cached-entry.ts';

const AWAY_SECONDS = 5;

/** A page may cost seconds of Postgres: nobody's many pages keep those of others waiting. */
const TURNS = { running: 4, ofAccount: 2, ofDomain: 1, waiting: 10 };
const WAIT_MS = 10_000;
const turns = new QueryTurns(TURNS);

export const listCacheKeys = domainRoute({
  method: 'GET',
  path: '/domains/{domain}/cache/keys',
  operationId: 'listCacheKeys',
  tag: 'Cache',
  summary: 'What edges have cached of the domain.',
  description:
    'As they reported it, some seconds ago. A page that takes too long (many rows, sorted by a text, with a pattern) is a 503: narrow it down.',
  permission: 'domain.view',
  query: CachedEntriesQuery,
  response: CachedEntries,
  async run({ api: { cacheRegistry }, caller, domain, gone, query }) {
    if (cacheRegistry === undefined) return unavailable('there is no cache registry here', AWAY_SECONDS);
    const { sort, dir, limit, offset, ...filter } = query;
    const late = AbortSignal.timeout(WAIT_MS);
    let giveBack = () => {};
    try {
      const asker = { accountId: caller.account.id, domainId: domain.id };
      giveBack = await turns.take(asker, AbortSignal.any([gone, late]));
      const db = await cacheRegistry.database();
      const page = { sort, ascends: dir === 'asc', limit, offset, ...filter };
      const { rows, total, dropped } = await listEntries(db, domain.id, page);
      const own = { domain_id: domain.id, domain: printWithoutDot(domain.name) };
      return {
        rows: rows.map((entry) => ({
          ...own,
          host: entry.host,
          path: entry.path,
          query: entry.query,
          variant: entry.variant,
          method: entry.method,
          node: entry.node,
          hostname: entry.hostname,
          store_path: entry.storePath,
          key_hash: entry.keyHash,
          cache_key: entry.cacheKey,
          l2_key: entry.l2Key,
          size: entry.size,
          cached_at: entry.cachedAt.toISOString(),
          expires_at: entry.expiresAt.toISOString(),
        })),
        total,
        limit,
        offset,
        ...(dropped > 0 && { dropped }),
      };
    } catch (error) {
      if (error instanceof TooManyQueries || error === late.reason || error === gone.reason)
        return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': '1' } });
      if (isRegistryAway(error))
        return unavailable(
          'the cache registry cannot answer now; try again, or narrow it down',
          AWAY_SECONDS,
        );
      throw error;
    } finally {
      giveBack();
    }
  },
});
