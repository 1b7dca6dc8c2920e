// Ends open invites whose inviter may not manage the members of the domain any more. Whatever takes that right away calls it, in
// the same transaction: an invite that has ended does not come back with the right.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** In SQL: whether the inviter of `i` may manage the members of its domain `d` now. The operator always may. */
export const INVITER_MANAGES: RawBuilder<unknown> = sql`(i.invited_by is null or exists (
  select from accounts inviter where inviter.id = i.invited_by and inviter.active and (
    inviter.is_admin or d.account_id = inviter.id
    or exists (select from accounts client where client.id = d.account_id and client.provider_id = inviter.id)
    or exists (select from memberships granted where granted.domain_id = d.id
      and granted.account_id = inviter.id and granted.role = 'admin'))))`;

/** Those that an account made. */
export async function endInvitesOf(trx: Database, inviterId: number): Promise<void> {
  await endInvites(trx, sql`i.invited_by = ${inviterId}`);
}

/** Those to a domain. */
export async function endInvitesTo(trx: Database, domainId: number): Promise<void> {
  await endInvites(trx, sql`i.domain_id = ${domainId}`);
}

async function endInvites(trx: Database, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    update invites i set status = 'revoked', ended_at = clock_timestamp()
    from domains d
    where i.status = 'open' and ${which} and d.id = i.domain_id and not ${INVITER_MANAGES}`.execute(trx);
}
