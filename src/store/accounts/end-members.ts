// Ends the memberships that an account gave, when it loses the right to: in the domains of an owner, with those that the members it
// made gave in their turn, and the open invites of all of them.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { endInvitesOf } from './end-invites.ts';

/** The domains are locked by the caller. */
export async function endMembersOf(
  trx: Database,
  { ownerId, granterId }: { readonly ownerId: number; readonly granterId: number },
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    with recursive gone as (
      select m.domain_id, m.account_id from memberships m join domains d on d.id = m.domain_id
      where d.account_id = ${ownerId} and m.granted_by = ${granterId}
      union
      select m.domain_id, m.account_id from memberships m
        join gone g on g.domain_id = m.domain_id and g.account_id = m.granted_by),
    deleted as (
      delete from memberships m using gone g
      where m.domain_id = g.domain_id and m.account_id = g.account_id returning m.account_id)
    select distinct account_id as id from deleted order by 1`.execute(trx);
  for (const { id } of rows) await endInvitesOf(trx, id);
}
