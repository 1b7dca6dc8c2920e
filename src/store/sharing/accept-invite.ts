// Links of invites, and accepting an invite, which makes the account a member. A link works until the invite ends or is
// sent again. Only the hash of its token is stored.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { type Account, emailKeyOf } from '../accounts/accounts.ts';
import { INVITER_MANAGES } from '../accounts/end-sharing.ts';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type GrantedRole, roleAfterAccept } from './judge-sharing.ts';
import { lockSharing, refused, type SharingRefusal } from './lock-sharing.ts';
import { hasRoom, loadMember, saveRole, tooMany } from './members.ts';

/**
 * Returns a token, a secret that must not be logged or stored. `provesEmail` is true for a mailed token and for one
 * that an operator passes on. The token that the inviter receives does not prove the email.
 */
export async function addToken(trx: Database, inviteId: number, provesEmail: boolean): Promise<string> {
  const token = makeSecretText('inv_');
  await sql`
    insert into invite_tokens (hash, invite_id, proves_email)
    values (${hashSecret(token)}, ${inviteId}, ${provesEmail})`.execute(trx);
  return token;
}

export async function dropTokens(trx: Database, inviteId: number): Promise<void> {
  await sql`delete from invite_tokens where invite_id = ${inviteId}`.execute(trx);
}

interface FoundInvite {
  readonly id: number;
  readonly domainId: number;
  readonly domain: Name;
  readonly email: string;
  readonly emailKey: string;
  readonly role: GrantedRole;
  /** Null for an operator. */
  readonly invitedBy: number | null;
  readonly expiresAt: Date;
  readonly provesEmail: boolean;
}

/** An invite that appears to be sent this much in the future is from before the clock was set back. */
const SKEW_MINUTES = 5;

/** SQL condition: the invite `i` of the domain `d` can be accepted. */
const IS_OPEN: RawBuilder<unknown> = sql`i.status = 'open' and i.expires_at > clock_timestamp()
  and i.sent_at < clock_timestamp() + make_interval(mins => ${SKEW_MINUTES}::integer) and d.deleted_at is null`;

/** Returns undefined if no open invite has this token. With `locked`, the invite stays locked until the transaction ends. */
export async function findInvite(
  db: Database,
  token: string,
  { locked = false }: { readonly locked?: boolean } = {},
): Promise<FoundInvite | undefined> {
  if (!isSecretText('inv_', token)) return undefined;
  const { rows } = await sql<Omit<FoundInvite, 'domain'> & { domain: string }>`
    select i.id, i.domain_id as "domainId", d.name as domain, i.email, i.email_key as "emailKey", i.role, i.invited_by as "invitedBy",
      i.expires_at as "expiresAt", t.proves_email as "provesEmail"
    from invite_tokens t join invites i on i.id = t.invite_id join domains d on d.id = i.domain_id
    where t.hash = ${hashSecret(token)} and ${IS_OPEN} and ${INVITER_MANAGES}
    ${locked ? sql`for update of i` : sql``}`.execute(db);
  const [row] = rows;
  return row && { ...row, domain: decodeNameColumn(row.domain) };
}

/** Returns true if there is an open invite for this email. Does not read accounts, which workers may not see. */
export async function isInvited(db: Database, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from invites i join domains d on d.id = i.domain_id
    where i.email_key = ${emailKeyOf(email)} and ${IS_OPEN} limit 1`.execute(db);
  return rows.length > 0;
}

interface MailedInvite {
  readonly id: number;
  readonly domain: Name;
  readonly role: GrantedRole;
  /** Undefined for the operator. */
  readonly invitedBy: string | undefined;
  readonly expiresAt: Date;
}

/** Loads the content of the mail. Returns undefined if the invite has ended, or was sent again since this mail was ordered. */
export async function loadMailedInvite(
  db: Database,
  inviteId: number,
  orderedAt: Date,
): Promise<MailedInvite | undefined> {
  const { rows } = await sql<Omit<MailedInvite, 'domain'> & { domain: string }>`
    select i.id, d.name as domain, i.role, i.invited_by_email as "invitedBy", i.expires_at as "expiresAt"
    from invites i join domains d on d.id = i.domain_id
    where i.id = ${inviteId} and ${IS_OPEN} and date_trunc('milliseconds', i.sent_at) <= ${orderedAt}`.execute(
    db,
  );
  const [row] = rows;
  return row && { ...row, domain: decodeNameColumn(row.domain), invitedBy: row.invitedBy ?? undefined };
}

type AcceptedInvite =
  | {
      readonly kind: 'accepted';
      readonly domainId: number;
      readonly invite: { readonly id: number; readonly email: string; readonly role: Role };
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
    // Repeated under the lock, because another transaction may have ended the invite.
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
