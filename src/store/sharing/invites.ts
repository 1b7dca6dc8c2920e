// Invites to a domain by email, also for people without an account. An address has at most one open invite per domain.

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { emailKeyOf } from '../accounts/accounts.ts';
import { type CountRule, countInWindow } from '../accounts/rate-windows.ts';
import type { Database } from '../postgres/database.ts';
import { type LogPage, logSql } from '../postgres/list-page.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { addToken, dropTokens } from './accept-invite.ts';
import {
  type GrantedRole,
  type InviteEnd,
  type InviteStatus,
  inviteStatus,
  mayGrant,
} from './judge-sharing.ts';
import { lockSharing, refused, type SharedBy, type SharingRefusal } from './lock-sharing.ts';

const DAYS = 7;
const MAX_OPEN = 100;

export interface Invite {
  readonly id: number;
  readonly email: string;
  readonly role: GrantedRole;
  readonly status: InviteStatus;
  readonly expiresAt: Date;
  /** Null for the operator. */
  readonly invitedBy: number | null;
  readonly createdAt: Date;
}

type InviteRow = Omit<Invite, 'status'> & { readonly end: InviteEnd; readonly now: Date };

const COLUMNS: RawBuilder<unknown> = sql`i.id, i.email, i.role, i.status as "end", i.expires_at as "expiresAt",
  i.invited_by as "invitedBy", i.created_at as "createdAt", clock_timestamp() as now`;

function decode({ end, now, ...invite }: InviteRow): Invite {
  return { ...invite, status: inviteStatus(end, invite.expiresAt, now) };
}

export async function listInvites(
  db: Database,
  domainId: number,
  page: LogPage,
  after = 0,
): Promise<Invite[]> {
  const { behind, order } = logSql(sql`i.id`, page);
  const { rows } = await sql<InviteRow>`
    select ${COLUMNS} from invites i where i.domain_id = ${domainId} and i.id > ${after} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows.map(decode);
}

/** Ordered by email. */
export async function listOpenInvites(db: Database, domainId: number): Promise<Invite[]> {
  const { rows } = await sql<InviteRow>`
    select ${COLUMNS} from invites i
    where i.domain_id = ${domainId} and i.status = 'open' and i.expires_at > clock_timestamp()
    order by i.email_key`.execute(db);
  return rows.map(decode);
}

export async function countInvites(db: Database, domainId: number, after = 0): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from invites where domain_id = ${domainId} and id > ${after}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function loadInvite(db: Database, domainId: number, id: number): Promise<Invite | undefined> {
  const { rows } = await sql<InviteRow>`
    select ${COLUMNS} from invites i where i.id = ${id} and i.domain_id = ${domainId}`.execute(db);
  const [row] = rows;
  return row && decode(row);
}

/** The inviter: an account with its email, or the operator, for whom no limits apply. */
export interface Inviter {
  readonly sharer: SharedBy;
  readonly email?: string;
  /** True if the link is also mailed. */
  readonly mails: boolean;
}

/** `token` is a secret for the inviter. */
export type SentInvite =
  | { readonly kind: 'sent'; readonly invite: Invite; readonly token: string }
  | SharingRefusal;

interface NewInvite {
  readonly domainId: number;
  readonly email: string;
  readonly role: GrantedRole;
  readonly inviter: Inviter;
}

export async function createInvite(
  db: Database,
  { domainId, email, role, inviter }: NewInvite,
): Promise<SentInvite> {
  return await inTransaction<SentInvite>(db, async (trx) => {
    const { sharer } = inviter;
    const allowed = await judge(trx, domainId, sharer, role);
    if (allowed !== undefined) return rollBackTo(allowed);
    await sql`
      update invites set status = 'revoked', ended_at = clock_timestamp()
      where domain_id = ${domainId} and email_key = ${emailKeyOf(email)} and status = 'open'`.execute(trx);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from invites
      where domain_id = ${domainId} and status = 'open' and expires_at > clock_timestamp()`.execute(trx);
    if ((rows[0]?.count ?? 0) >= MAX_OPEN)
      return rollBackTo(refused('full', `a domain may have ${MAX_OPEN} open invites; revoke one first`));
    const made = await sql<{ id: number }>`
      insert into invites (domain_id, email, email_key, role, invited_by, invited_by_email, expires_at)
      values (${domainId}, ${email}, ${emailKeyOf(email)}, ${role},
        ${sharer === 'operator' ? null : sharer.accountId}, ${inviter.email ?? null},
        clock_timestamp() + make_interval(days => ${DAYS}::integer))
      returning id`.execute(trx);
    return await send(trx, domainId, (made.rows[0] as { id: number }).id, inviter);
  });
}

/** Replaces the link and extends the invite to seven days from now. Also works for an expired invite. */
export async function resendInvite(
  db: Database,
  {
    domainId,
    inviteId,
    inviter,
  }: { readonly domainId: number; readonly inviteId: number; readonly inviter: Inviter },
): Promise<SentInvite> {
  return await inTransaction<SentInvite>(db, async (trx) => {
    const invite = await loadInvite(trx, domainId, inviteId);
    if (invite === undefined) return refused('absent', 'no such invite');
    const allowed = await judge(trx, domainId, inviter.sharer, invite.role);
    if (allowed !== undefined) return rollBackTo(allowed);
    const { numAffectedRows } = await sql`
      update invites set sent_at = clock_timestamp(),
        expires_at = clock_timestamp() + make_interval(days => ${DAYS}::integer)
      where id = ${inviteId} and status = 'open'`.execute(trx);
    if (numAffectedRows === 0n)
      return rollBackTo(refused('ended', 'the invite has ended: create another one'));
    await dropTokens(trx, inviteId);
    return await send(trx, domainId, inviteId, inviter);
  });
}

/** Returns undefined if the invite may be sent, and counts it. */
async function judge(
  trx: Database,
  domainId: number,
  sharer: SharedBy,
  role: GrantedRole,
): Promise<SharingRefusal | undefined> {
  const lock = await lockSharing(trx, domainId, sharer);
  if (lock === undefined) return refused('no_domain', 'no such domain');
  if (!mayGrant(lock.role, role)) return refused('forbidden', 'your role lacks members.manage');
  if (sharer === 'operator') return undefined;
  const retryAfterSeconds = await countInvite(trx, domainId, sharer.accountId);
  return retryAfterSeconds === undefined
    ? undefined
    : refused('limited', 'too many invites were sent within a day', { retryAfterSeconds });
}

async function send(
  trx: Database,
  domainId: number,
  inviteId: number,
  { sharer, mails }: Inviter,
): Promise<SentInvite> {
  const token = await addToken(trx, inviteId, sharer === 'operator');
  const invite = (await loadInvite(trx, domainId, inviteId)) as Invite;
  if (mails && (await mayMailInvite(trx, emailKeyOf(invite.email)))) {
    await sql`
      insert into mails (kind, email, invite_id) values ('invite', ${invite.email}, ${inviteId})`.execute(
      trx,
    );
  }
  return { kind: 'sent', invite, token };
}

/** Ends the invite and its links. An invite that has already ended does not change. */
export async function revokeInvite(
  db: Database,
  {
    domainId,
    inviteId,
    sharer,
  }: { readonly domainId: number; readonly inviteId: number; readonly sharer: SharedBy },
): Promise<{ readonly kind: 'revoked' } | SharingRefusal> {
  return await inTransaction<{ readonly kind: 'revoked' } | SharingRefusal>(db, async (trx) => {
    const lock = await lockSharing(trx, domainId, sharer);
    if (lock === undefined) return refused('no_domain', 'no such domain');
    const invite = await loadInvite(trx, domainId, inviteId);
    if (invite === undefined) return refused('absent', 'no such invite');
    if (!mayGrant(lock.role, invite.role)) return refused('forbidden', 'your role lacks members.manage');
    const { numAffectedRows } = await sql`
      update invites set status = 'revoked', ended_at = clock_timestamp()
      where id = ${inviteId} and status = 'open'`.execute(trx);
    if (numAffectedRows === 0n) return refused('ended', 'the invite has already ended');
    await dropTokens(trx, inviteId);
    return { kind: 'revoked' };
  });
}

const OF_DOMAIN: CountRule = { limit: 50, seconds: 86_400 };
/** For all domains of an account, because domains are easy to create. */
const OF_ACCOUNT: CountRule = { limit: 200, seconds: 86_400 };
/** Beyond this limit an invite is created but not mailed, so that the inviter learns nothing about other inviters. */
const TO_ADDRESS: CountRule = { limit: 3, seconds: 3600 };

/**
 * Counts an invite in the transaction that creates it, so that failed ones do not count. Returns the seconds to wait,
 * or undefined if it was counted.
 */
async function countInvite(trx: Database, domainId: number, accountId: number): Promise<number | undefined> {
  return (
    (await countInWindow(trx, `domain:${domainId}`, OF_DOMAIN)) ??
    (await countInWindow(trx, `account:${accountId}`, OF_ACCOUNT))
  );
}

/** Returns false if the address has recently received enough invites. */
async function mayMailInvite(trx: Database, emailKey: string): Promise<boolean> {
  const digest = createHash('sha256').update(emailKey).digest('base64');
  return (await countInWindow(trx, `to:${digest}`, TO_ADDRESS)) === undefined;
}
