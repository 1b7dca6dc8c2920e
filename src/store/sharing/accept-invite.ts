// Accepting an invite: the one that has it is made a member, once.

import { sql } from 'kysely';
import type { Account } from '../accounts/accounts.ts';
import { emailKeyOf } from '../accounts/email-address.ts';
import type { Database } from '../postgres/database.ts';
import type { Role } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { dropTokens, findInvite } from './invite-tokens.ts';
import { roleAfterAccept } from './judge-sharing.ts';
import { lockSharing, refused, type SharingRefusal } from './lock-sharing.ts';
import { hasRoom, loadMember, saveRole, tooMany } from './members.ts';

type AcceptedInvite =
  | {
      readonly kind: 'accepted';
      readonly domainId: number;
      readonly invite: { readonly id: number; readonly email: string; readonly role: Role };
      /** The role of before, if the account had one. */
      readonly before: Role | undefined;
    }
  | SharingRefusal
  | { readonly kind: 'banned' | 'unconfirmed' }
  /** The invite is for another address. */
  | { readonly kind: 'mismatch'; readonly email: string };

export async function acceptInvite(
  db: Database,
  token: string,
  { id: accountId, email, isEmailConfirmed }: Pick<Account, 'id' | 'email' | 'isEmailConfirmed'>,
): Promise<AcceptedInvite> {
  return await inTransaction<AcceptedInvite>(db, async (trx) => {
    const first = await findInvite(trx, token);
    if (first === undefined) return refused('absent', 'no such invite');
    const { domainId } = first;
    const lock = await lockSharing(trx, domainId, 'operator');
    // Again, now that nobody else can end it.
    const invite = await findInvite(trx, token, { locked: true });
    if (lock === undefined || invite === undefined) return refused('absent', 'no such invite');
    if (emailKeyOf(email) !== invite.emailKey) return { kind: 'mismatch', email: invite.email };
    if (!isEmailConfirmed) return { kind: 'unconfirmed' };
    if (lock.status === 'banned') return { kind: 'banned' };
    const before = await loadMember(trx, domainId, accountId);
    const role = roleAfterAccept(before?.role, invite.role);
    if (role !== 'owner' && before?.isProvider !== true && role !== before?.role) {
      if (before === undefined && !(await hasRoom(trx, domainId))) return tooMany();
      await saveRole(trx, { domainId, accountId, role, grantedBy: invite.invitedBy });
    }
    await sql`
      update invites set status = 'accepted', ended_at = clock_timestamp(), accepted_by = ${accountId}
      where id = ${invite.id}`.execute(trx);
    await dropTokens(trx, invite.id);
    return { kind: 'accepted', domainId, invite, before: before?.role };
  });
}
