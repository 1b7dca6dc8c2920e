// Taking what edges have cached of a domain away, and seeing how far that is.

import { z } from 'zod';
import { GATES } from '../../../billing/gates.ts';
import { purgeProgress } from '../../../edge/purges/purge-progress.ts';
import { type PurgeTarget, readPurgeTarget } from '../../../edge/purges/purge-target.ts';
import { loadPurge, type StoredPurge } from '../../../store/purges/load-purge.ts';
import { orderPurge } from '../../../store/purges/order-purge.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { judgePlan } from '../../actions/judge-plan.ts';
import { invalid, Problem } from '../../answers/problem.ts';
import type { DomainCall } from '../../calls/call.ts';
import { domainRoute } from '../../calls/route.ts';
import { Purge, PurgeOrdered, PurgeWish, RefreshWish } from '../../schemas/cache/purge.ts';
import { idText } from '../../schemas/ids.ts';
import { listCacheKeys } from './keys.ts';

const tag = 'Cache';
const RETRY_SECONDS = 60;
const WHY = {
  often: 'rate limit exceeded',
  open: 'too many purges of this domain are not done by all edges yet: purge the whole domain, which takes their place',
} as const;

const purgeCache = domainRoute({
  method: 'DELETE',
  path: '/domains/{domain}/cache/',
  operationId: 'purgeCache',
  audit: 'cache.purge',
  tag,
  summary: 'Takes what edges have cached of the domain away.',
  description:
    'All of it, or that of a host, a URL or a prefix, or one row of `cache/keys`. The answer does not wait for the edges, which are told at once; `GET …/cache/purges/{id}` says how far they are. A purge of the whole domain takes the place of those before it. At most 30 a minute.',
  permission: 'cache.edit',
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

const refreshCache = domainRoute({
  method: 'POST',
  path: '/domains/{domain}/cache/refresh',
  operationId: 'refreshCache',
  audit: 'cache.refresh',
  tag,
  summary: 'Has edges fetch a URL anew.',
  description:
    'It is a purge of the URL, after which edges that can ask the origin for it at once, so that the next visitor need not wait. Counts as a purge, and is done when the old answer is gone.',
  permission: 'cache.edit',
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

/** The plan is asked, and how many purges there are already. */
async function order(
  { api: { db }, domain }: Pick<DomainCall<unknown, unknown, unknown, unknown>, 'api' | 'domain'>,
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

const getPurge = domainRoute({
  method: 'GET',
  path: '/domains/{domain}/cache/purges/{id}',
  operationId: 'getPurge',
  tag,
  summary: 'Which edges have done a purge.',
  description: 'Kept for eight days: nothing is cached for longer than seven.',
  permission: 'domain.view',
  params: z.object({ id: idText }),
  find: ({ api, domain, params: { id } }) => loadPurge(api.db, domain.id, id),
  finds: 'purge',
  response: Purge,
  run: ({ found }) => printPurge(found),
});

export const CACHE_ROUTES = [listCacheKeys, purgeCache, refreshCache, getPurge];

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
