// The domains of one account that belong together: one lies inside another, and is answered because both are one account's.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { isBelow, namesAbove } from './claim-name.ts';

export interface FamilyMember {
  readonly id: number;
  /** As in its column. */
  readonly name: string;
}

/**
 * The other domains of the account that its domain cannot leave without harm, and those that these cannot leave: of two accounts the
 * inner one is answered, and stays active, only as far as the outer one's records delegate to it (docs/rules.md "What is
 * answered"). Call it under `lockNamesAround`.
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

/** Undelegated by the records of the domain `outer`, or still waiting. */
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
