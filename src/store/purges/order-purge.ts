// Orders a purge from every edge that may have something of the domain.

import { sql } from 'kysely';
import type { PurgeTarget } from '../../edge/purges/purge-target.ts';
import type { Database } from '../postgres/database.ts';
import { announceAfterCommit } from '../postgres/transaction.ts';

/** Of one domain in any minute: each costs every edge a look through its cache. */
const MOST_A_MINUTE = 30;
/** Purges of one domain that edges have not done. One of everything takes the place of all of them. */
const MOST_OPEN = 200;

type OrderedPurge =
  | { readonly kind: 'ordered'; readonly id: number }
  | { readonly kind: 'limited'; readonly why: 'often' | 'open' };

/** Within a transaction. */
export async function orderPurge(
  trx: Database,
  domainId: number,
  target: PurgeTarget,
): Promise<OrderedPurge> {
  await sql`select from domains where id = ${domainId} for no key update`.execute(trx); // one after the other
  if (target.kind === 'all') {
    // Without a number yet: it is noted below.
    await sql`
      with replaced as (
        delete from cache_purge_edges e using cache_purges p
        where p.domain_id = ${domainId} and e.purge_id = p.id and e.done_at is null returning p.id)
      update cache_purges p set replaced_by = 0 where p.id in (select id from replaced)`.execute(trx);
  }
  const { rows: counts } = await sql<{ lately: number; open: number }>`
    select (select count(*)::integer from cache_purges
        where domain_id = ${domainId} and at > clock_timestamp() - interval '1 minute') as lately,
      (select count(*)::integer from cache_purges p where p.domain_id = ${domainId}
        and exists (select from cache_purge_edges e where e.purge_id = p.id and e.done_at is null)) as open`.execute(
    trx,
  );
  const { lately, open } = counts[0] as { lately: number; open: number };
  if (lately >= MOST_A_MINUTE) return { kind: 'limited', why: 'often' };
  if (open >= MOST_OPEN) return { kind: 'limited', why: 'open' };
  const { rows } = await sql<{ id: number }>`
    with ordered as (
      insert into cache_purges (domain_id, target) values (${domainId}, ${JSON.stringify(target)}::jsonb)
      returning id),
    told as (
      insert into cache_purge_edges (purge_id, edge_id)
      select o.id, e.id from ordered o, edges e, domains d
      where d.id = ${domainId} and e.revoked_at is null
        and (d.edge_regions is null or e.region = any(d.edge_regions)))
    select id from ordered`.execute(trx);
  const { id } = rows[0] as { id: number };
  if (target.kind === 'all') {
    await sql`
      update cache_purges set replaced_by = ${id} where domain_id = ${domainId} and replaced_by = 0`.execute(
      trx,
    );
  }
  announceAfterCommit(trx);
  return { kind: 'ordered', id };
}
