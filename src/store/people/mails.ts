// Mails to be sent. The API orders them, workers send them. A row has the recipient and the kind, but no secret. An
// order is written even if no account has the email address, so that the response time reveals nothing.

import { sql } from 'kysely';
import { printWithoutDot } from '../../zone/name-text.ts';
import { emailKeyOf } from '../accounts/accounts.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/**
 * `email` confirms a new address; `email-changed` notifies the old address; `register-invited` is for registration by
 * invitation only; `invite` is ordered with the invite; `takeover` comes from `orderTakeoverMails` and `dnssec` from
 * `orderDnssecReminder`. Features order and write mails of further kinds.
 */
type MailKind =
  | 'reset'
  | 'register'
  | 'register-invited'
  | 'email'
  | 'email-changed'
  | 'invite'
  | 'takeover'
  | 'dnssec';

export interface OrderedMail {
  readonly id: number;
  readonly kind: MailKind;
  readonly email: string;
  /** For `reset` and `register`: the account with the email address. */
  readonly accountId: number | null;
  readonly inviteId: number | null;
  readonly attempts: number;
  readonly createdAt: Date;
  /** Without the final dot. Null unless the mail is about a domain. */
  readonly domain: string | null;
  readonly message: string | null;
}

/** Finds the active account with the email address, if any, in the same statement. */
export async function orderMail(
  db: Database,
  kind: 'reset' | 'register' | 'register-invited',
  email: string,
): Promise<void> {
  await sql`
    insert into mails (kind, email, account_id)
    select ${kind}, ${email},
      (select id from accounts where email_key = ${emailKeyOf(email)} and active)`.execute(db);
}

export async function orderMailOf(
  db: Database,
  kind: 'email' | 'email-changed',
  accountId: number,
  email: string,
): Promise<void> {
  await sql`insert into mails (kind, email, account_id) values (${kind}, ${email}, ${accountId})`.execute(db);
}

/** A mail whose worker failed is due again after this time. */
const LEASE_SECONDS = 300;

export async function claimDueMails(db: Database, limit: number): Promise<{ mailId: number }[]> {
  const { rows } = await sql<{ mailId: number }>`
    update mails set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}), attempts = attempts + 1
    where id = any(array(
      select id from mails where due_at <= clock_timestamp() order by due_at limit ${limit} for update skip locked))
    returning id as "mailId"`.execute(db);
  return rows;
}

export async function loadMail(db: Database, id: number): Promise<OrderedMail | undefined> {
  const { rows } = await sql<OrderedMail>`
    select l.id, l.kind, l.email, l.account_id as "accountId", l.invite_id as "inviteId", l.attempts,
      l.created_at as "createdAt", l.message, (select d.name from domains d where d.id = l.domain_id) as domain
    from mails l where l.id = ${id}`.execute(db);
  const [mail] = rows;
  if (mail === undefined || mail.domain === null) return mail;
  return { ...mail, domain: printWithoutDot(decodeNameColumn(mail.domain)) };
}

/** Deletes a mail that was sent or is no longer needed. */
export async function dropMail(db: Database, id: number): Promise<void> {
  await sql`delete from mails where id = ${id}`.execute(db);
}

export async function delayMail(db: Database, id: number, seconds: number): Promise<void> {
  await sql`update mails set due_at = clock_timestamp() + make_interval(secs => ${seconds}::double precision)
    where id = ${id}`.execute(db);
}

/**
 * Orders the mails that warn the holders of a name when another account is about to take it (docs/rules.md
 * "Takeovers"). Anyone who controls a delegation can trigger this repeatedly, so the function `order_takeover_mails`
 * limits the mails of a domain and of an account. Call it under `lockNamesAround`, in the transaction that starts the
 * takeover. `message` is the finding's message. Returns false if the daily limit is reached.
 */
export async function orderTakeoverMails(
  trx: Database,
  { domainId, message }: { readonly domainId: number; readonly message: string },
): Promise<boolean> {
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_takeover_mails(${domainId}::bigint, ${message}::text) as "isOrdered"`.execute(trx);
  return rows[0]?.isOrdered === true;
}

/**
 * Orders the mail that reminds owners what to enter at the registrar for DNSSEC, which is `message`. The function
 * `order_dnssec_reminder` limits it to one per domain in 30 days, and 20 per account and day. Returns false if the
 * limit is reached.
 */
export async function orderDnssecReminder(
  db: Database,
  { signedZoneId, message }: { readonly signedZoneId: number; readonly message: string },
): Promise<boolean> {
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_dnssec_reminder(${signedZoneId}::bigint, ${message}::text) as "isOrdered"`.execute(db);
  return rows[0]?.isOrdered === true;
}
