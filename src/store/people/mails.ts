// Mails that are to be sent: a row says to whom and of what kind, and never has a secret. The API orders, workers send. An
// order is written whether or not somebody has the email, so that its time tells nothing.

import { sql } from 'kysely';
import { printWithoutDot } from '../../zone/name-text.ts';
import { emailKeyOf } from '../accounts/email-address.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/**
 * `email`: to a new address, that the account asks for; `email-changed`: to the address of before; `register-invited`: to
 * register where only those may who are invited; `invite`: ordered where the invite is made; `takeover`: from
 * `orderTakeoverMails`; `dnssec`: from `orderDnssecReminder`;
 * `traffic`: from `orderTrafficMail`. Features order mails of further kinds, and write them.
 */
type MailKind =
  | 'reset'
  | 'register'
  | 'register-invited'
  | 'email'
  | 'email-changed'
  | 'invite'
  | 'takeover'
  | 'dnssec'
  | 'traffic';

export interface OrderedMail {
  readonly id: number;
  readonly kind: MailKind;
  readonly email: string;
  /** Of `reset` and `register`: who has the email. */
  readonly accountId: number | null;
  readonly inviteId: number | null;
  readonly attempts: number;
  readonly createdAt: Date;
  /** Without the final dot. Null unless the mail is about a domain. */
  readonly domain: string | null;
  readonly message: string | null;
}

/** The holder of the email, if somebody active has it, is found in the same statement. */
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

/** A mail whose worker was lost is due again after this long. */
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

/** It was sent, or is not to be sent. */
export async function dropMail(db: Database, id: number): Promise<void> {
  await sql`delete from mails where id = ${id}`.execute(db);
}

export async function delayMail(db: Database, id: number, seconds: number): Promise<void> {
  await sql`update mails set due_at = clock_timestamp() + make_interval(secs => ${seconds}::double precision)
    where id = ${id}`.execute(db);
}
