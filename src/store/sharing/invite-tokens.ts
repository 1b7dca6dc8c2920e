// The links of invites: tokens that work until the invite ends or is sent again. Only their hash is stored.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { emailKeyOf } from '../accounts/email-address.ts';
import { INVITER_MANAGES } from '../accounts/end-invites.ts';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/secret-text.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { GrantedRole } from './judge-sharing.ts';

/**
 * Gives a token: a secret that must not be logged or stored. `provesEmail`: only whoever reads the address gets it, or the
 * operator gives it to them; whoever invites somebody gets one that does not.
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
  /** Null: an operator. */
  readonly invitedBy: number | null;
  readonly expiresAt: Date;
  readonly provesEmail: boolean;
}

/** One that was made this much later than now was made before the clock went back. */
const SKEW_MINUTES = 5;

/** In SQL: the invite `i` of the domain `d` can be accepted. */
const IS_OPEN: RawBuilder<unknown> = sql`i.status = 'open' and i.expires_at > clock_timestamp()
  and i.sent_at < clock_timestamp() + make_interval(mins => ${SKEW_MINUTES}::integer) and d.deleted_at is null`;

/** Undefined: no open invite has this token. With `locked` nobody else ends the invite until this transaction does. */
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

/** Somebody with this email is invited somewhere. Workers ask too, who do not see accounts. */
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
  /** Undefined: the operator. */
  readonly invitedBy: string | undefined;
  readonly expiresAt: Date;
}

/** What the mail says. Undefined: the invite is over, or another mail was ordered for it since. */
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
