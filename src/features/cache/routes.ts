// Routes of a domain's cached entries and purges (docs/api.md "The cache").

import { z } from 'zod';
import { judgePlan } from '../../api/actions/judge-plan.ts';
import { QueryTurns, TooManyQueries } from '../../api/analytics/query-turns.ts';
import { invalid, Problem, unavailable } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { domain, route } from '../../api/calls/route.ts';
import { idText } from '../../api/schemas/fields.ts';
import { GATES } from '../../billing/gates.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type PurgeTarget, purgeProgress, readPurgeTarget } from './rules.ts';
import { CachedEntries, CachedEntriesQuery, Purge, PurgeOrdered, PurgeWish, RefreshWish } from './schema.ts';
import { CACHE_REGISTRY } from './services.ts';
import { listEntries } from './sql-entries.ts';
import { loadPurge, orderPurge, type StoredPurge } from './sql-purges.ts';
import { isRegistryUnavailable } from './sql-registry.ts';

const tag = 'Cache';
const RETRY_SECONDS = 60;
const WHY = {
  often: 'rate limit exceeded',
  open: 'too many purges of this domain are not completed by all edges yet: purge the whole domain, which replaces them',
} as const;

const purgeCache = route(domain('cache.edit'), {
  method: 'DELETE',
  path: '/domains/{domain}/cache/',
  operationId: 'purgeCache',
  audit: 'cache.purge',
  tag,
  summary: 'Purges cached entries of the domain.',
  description:
    'Purges the whole domain, or a host, a URL, a prefix, or one row of `cache/keys`. The response does not wait for the edges, which are notified immediately; `GET …/cache/purges/{id}` reports their progress. A purge of the whole domain replaces earlier ones. At most 30 per minute.',
  body: PurgeWish.nullish(),
  response: PurgeOrdered,
  problems: ['plan_feature'],
  async run(call) {
    const { domain } = call;
    const wish = call.body ?? {};
    const target = readPurgeTarget(printWithoutDot(domain.name), wish);
    if ('problem' in target) return invalid([target.problem]);
    const purge = await order(call, target);
    if (purge instanceof Problem) return purge;
    call.audit({ after: { purge: purge.id, ...wish } });
    return { message: 'the purge is sent to the edges', purge };
  },
});

const refreshCache = route(domain('cache.edit'), {
  method: 'POST',
  path: '/domains/{domain}/cache/refresh',
  operationId: 'refreshCache',
  audit: 'cache.refresh',
  tag,
  summary: 'Makes edges fetch a URL again.',
  description:
    'Purges the URL. Edges that support it then request the URL from the origin immediately, so that the next visitor need not wait. Counts as a purge, and is completed when the old response is deleted.',
  body: RefreshWish,
  response: PurgeOrdered,
  problems: ['plan_feature'],
  async run(call) {
    const { url } = call.body;
    const target = readPurgeTarget(printWithoutDot(call.domain.name), { url });
    if ('problem' in target) return invalid([target.problem]);
    const purge = await order(call, target.kind === 'url' ? { ...target, refresh: true } : target);
    if (purge instanceof Problem) return purge;
    call.audit({ after: { purge: purge.id, url } });
    return { message: 'the refresh is sent to the edges', purge };
  },
});

/** Orders a purge, unless the plan does not allow it or the domain has too many. */
async function order(
  { api: { db }, domain }: Pick<CallOf<'domain'>, 'api' | 'domain'>,
  target: PurgeTarget,
): Promise<Problem | { id: number; edges: number; done: number }> {
  const refused = judgePlan(GATES.cache_purge, domain.plan);
  if (refused !== undefined) return refused;
  const ordered = await orderPurge(db, domain.id, target);
  if (ordered.kind === 'limited')
    return new Problem(429, WHY[ordered.why], { headers: { 'Retry-After': String(RETRY_SECONDS) } });
  const { id, edges, done } = printPurge((await loadPurge(db, domain.id, ordered.id)) as StoredPurge);
  return { id, edges, done };
}

const getPurge = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/cache/purges/{id}',
  operationId: 'getPurge',
  tag,
  summary: 'A purge, and which edges have completed it.',
  description: 'Purges are kept for eight days, because nothing is cached for longer than seven.',
  params: z.object({ id: idText }),
  find: ({ api, domain, params: { id } }) => loadPurge(api.db, domain.id, id),
  finds: 'purge',
  response: Purge,
  run: ({ found }) => printPurge(found),
});

function printPurge({ id, at, replacedBy, edges }: StoredPurge): z.input<typeof Purge> {
  return {
    id,
    ...purgeProgress(edges, replacedBy),
    ...(replacedBy !== null && { replaced_by: replacedBy }),
    created_at: at.toISOString(),
    nodes: edges.map(({ name, isLive, doneAt, error }) => ({
      node: name,
      live: isLive,
      ...(doneAt !== null && { done_at: doneAt.toISOString() }),
      ...(error !== null && doneAt === null && { error }),
    })),
  };
}

const AWAY_SECONDS = 5;

/** A page may take Postgres seconds. Accounts take turns, so that one with many pages cannot delay the others. */
const TURNS = { running: 4, ofAccount: 2, ofDomain: 1, waiting: 10 };
const WAIT_MS = 10_000;
const turns = new QueryTurns(TURNS);

const listCacheKeys = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/cache/keys',
  operationId: 'listCacheKeys',
  tag: 'Cache',
  summary: 'Cached entries of the domain.',
  description:
    'As edges reported them a few seconds ago. A page that takes too long (many rows, sorted by a text, with a pattern) results in a 503: narrow the filter.',
  query: CachedEntriesQuery,
  response: CachedEntries,
  async run({ api: { services }, caller, domain, gone, query }) {
    const cacheRegistry = services.get(CACHE_REGISTRY);
    if (cacheRegistry === undefined) return unavailable('there is no cache registry here', AWAY_SECONDS);
    const { sort, dir, limit, offset, ...filter } = query;
    const late = AbortSignal.timeout(WAIT_MS);
    let release = () => {};
    try {
      const asker = { accountId: caller.account.id, domainId: domain.id };
      release = await turns.take(asker, AbortSignal.any([gone, late]));
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
      if (isRegistryUnavailable(error))
        return unavailable(
          'the cache registry cannot answer now; try again, or narrow the filter',
          AWAY_SECONDS,
        );
      throw error;
    } finally {
      release();
    }
  },
});

export const CACHE_ROUTES = [listCacheKeys, purgeCache, refreshCache, getPurge];
