// Browsing what edges have cached of a domain.

import { isRegistryAway } from '../../../store/cached/cache-registry.ts';
import { listEntries } from '../../../store/cached/list-entries.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { Problem, unavailable } from '../../answers/problem.ts';
import { domainRoute } from '../../calls/route.ts';
import { NoTurn, Turns } from '../../calls/turns.ts';
import { Gate } from '../../edge/gate.ts';
import { CachedEntries, CachedEntriesQuery } from '../../schemas/cache/cached-entry.ts';

const AWAY_SECONDS = 5;

/** A page may cost seconds of Postgres: of a domain one is read at a time, of all domains a few. */
const turns = new Turns({ waitMs: 10_000, waiting: 10 });
const gate = new Gate(4);

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
  async run({ api: { cacheRegistry }, domain, query }) {
    if (cacheRegistry === undefined) return unavailable('there is no cache registry here', AWAY_SECONDS);
    const { sort, dir, limit, offset, ...filter } = query;
    try {
      const db = await cacheRegistry.database();
      const page = { sort, ascends: dir === 'asc', limit, offset, ...filter };
      const read = () => listEntries(db, domain.id, page);
      const { rows, total, dropped } = await turns.run(domain.id, () => gate.run(read));
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
      if (error instanceof NoTurn)
        return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': '1' } });
      if (isRegistryAway(error))
        return unavailable(
          'the cache registry cannot answer now; try again, or narrow it down',
          AWAY_SECONDS,
        );
      throw error;
    }
  },
});
