// Finds the domains of an account that depend on each other: one lies inside another and is answered because both
// belong to the same account.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { isBelow, namesAbove } from './claim-name.ts';

export interface FamilyMember {
  readonly id: number;
  /** In the stored form. */
  readonly name: string;
}

/**
 * Returns the account's other domains that must move together with this one, directly or through other domains. If the
 * accounts differed, the inner domain would be answered, and stay active, only as far as the outer one's records
 * delegate to it (docs/rules.md "What is answered"). Call it under `lockNamesAround`.
 */
export async function findFamily(
  trx: Database,
  first: FamilyMember,
  accountId: number,
): Promise<readonly FamilyMember[]> {
  const family = new Map([[first.id, first]]);
  for (const { name, id } of family.values())
    for (const found of await findBound(trx, { id, name }, accountId)) family.set(found.id, found);
  family.delete(first.id);
  return [...family.values()].sort((a, b) => a.id - b.id);
}

const IS_ANSWERED = sql`d.deleted_at is null
  and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))`;

/** SQL condition: the inner domain is still pending, or the records of the domain `outer` do not delegate it. */
function needs(inner: { name: string; status: string }, outer: string) {
  return sql`(${sql.raw(inner.status)} = 'pending' or not exists (
    select from records r where r.domain_id = ${sql.raw(outer)} and r.type = 'NS' and not r.managed
      and (r.name = ${sql.raw(inner.name)}
        or right(${sql.raw(inner.name)}, length(r.name) + 1) = '.' || r.name)))`;
}

async function findBound(
  trx: Database,
  { id, name }: FamilyMember,
  accountId: number,
): Promise<readonly FamilyMember[]> {
  const { rows } = await sql<FamilyMember>`
    with own as (select d.id, d.name, d.status from domains d where d.id = ${id} and ${IS_ANSWERED})
    select d.id, d.name from domains d, own
    where d.account_id = ${accountId} and ${IS_ANSWERED} and ${isBelow(name)}
      and ${needs({ name: 'd.name', status: 'd.status' }, 'own.id')}
    union all
    select d.id, d.name from domains d, own
    where d.account_id = ${accountId} and ${IS_ANSWERED} and d.name = any(${namesAbove(name)}::text[])
      and ${needs({ name: 'own.name', status: 'own.status' }, 'd.id')}`.execute(trx);
  return rows;
}
