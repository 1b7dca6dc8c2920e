// Ends memberships and open invites when the account that gave them loses the right to do so. Every change that removes
// the right calls these functions in its transaction, because a revoked invite is not restored with the right.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** SQL condition: the inviter of `i` may now manage the members of its domain `d`. An operator always may. */
export const INVITER_MANAGES: RawBuilder<unknown> = sql`(i.invited_by is null or exists (
  select from accounts inviter where inviter.id = i.invited_by and inviter.active and (
    inviter.is_admin or d.account_id = inviter.id
    or exists (select from accounts client where client.id = d.account_id and client.provider_id = inviter.id)
    or exists (select from memberships granted where granted.domain_id = d.id
      and granted.account_id = inviter.id and granted.role = 'admin'))))`;

export async function endInvitesOf(trx: Database, inviterId: number): Promise<void> {
  await endInvites(trx, sql`i.invited_by = ${inviterId}`);
}

export async function endInvitesTo(trx: Database, domainId: number): Promise<void> {
  await endInvites(trx, sql`i.domain_id = ${domainId}`);
}

async function endInvites(trx: Database, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    update invites i set status = 'revoked', ended_at = clock_timestamp()
    from domains d
    where i.status = 'open' and ${which} and d.id = i.domain_id and not ${INVITER_MANAGES}`.execute(trx);
}

/**
 * Ends the memberships that an account granted in the domains of an owner, those that these members granted in turn,
 * and the open invites of all of them. The caller holds the locks of the domains.
 */
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
