// Writes the audit log. A row is written in the transaction of what it tells: either both are there, or none. Nobody changes a
// row; housekeeping deletes old ones.

import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type AuditAction, ruleOf } from './audit-actions.ts';
import { type Told, tellAudit } from './tell-audit.ts';

/** What a write tells of itself. */
export interface AuditNote {
  /** The account that it is about, if it is about one. */
  readonly accountId?: number | undefined;
  /** The domain that it is about. */
  readonly domainId?: number | undefined;
  /** What it was done to, where that is not the account or the domain itself; a name that stays when that is gone. */
  readonly target?: { readonly id?: number | undefined; readonly name?: string | undefined };
  /** By the names of fields in the API. Only those that the action names are stored. */
  readonly before?: Told | undefined;
  readonly after?: Told | undefined;
}

interface AuditEntry extends AuditNote {
  readonly action: AuditAction;
  readonly by: Actor;
  /** The change of the domain that tells more. */
  readonly changeId?: number;
}

const MAX_NAME_CHARACTERS = 255;

export async function writeAudit(trx: Database, entry: AuditEntry): Promise<void> {
  await auditInsert(entry).execute(trx);
}

/** Many rows by one statement. */
export async function writeAudits(trx: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await insertOf(entries).execute(trx);
}

/** The statement, also to be a part of a `with`. */
export function auditInsert(entry: AuditEntry): RawBuilder<unknown> {
  return insertOf([entry]);
}

function insertOf(entries: readonly AuditEntry[]): RawBuilder<unknown> {
  return sql`
    insert into audit_log (action, actor_kind, actor_account_id, actor_key_id, actor_address, actor_name,
      account_id, domain_id, change_id, target_id, target_name, before, after)
    values ${sql.join(entries.map(valuesOf))}`;
}

function valuesOf(entry: AuditEntry): RawBuilder<unknown> {
  const { action, by, accountId, domainId, changeId, target = {} } = entry;
  const { before, after } = tellAudit(action, entry);
  const id = target.id ?? (ruleOf(action).target === 'account' ? accountId : undefined);
  return sql`(${action}, ${by.kind}, ${by.accountId ?? null}, ${by.keyId ?? null}, ${by.address ?? null},
      ${by.name ?? null}, ${accountId ?? null}, ${domainId ?? null}, ${changeId ?? null}, ${id ?? null},
      ${target.name?.slice(0, MAX_NAME_CHARACTERS) ?? null}, ${json(before)}::jsonb, ${json(after)}::jsonb)`;
}

function json(told: Told | undefined): string | null {
  return told === undefined ? null : JSON.stringify(told);
}

/**
 * Does the work and writes its row in one transaction. `tell` says what the row tells; without it there is no row, so
 * that what was refused leaves none.
 */
export async function audited<T>(
  db: Database,
  entry: Pick<AuditEntry, 'action' | 'by'>,
  work: (trx: Database, tell: (note: AuditNote) => void) => Promise<T>,
): Promise<T> {
  return await inTransaction(db, async (trx) => {
    const notes: AuditNote[] = [];
    const done = await work(trx, (note) => notes.push(note));
    for (const note of notes) await writeAudit(trx, { ...entry, ...note });
    return done;
  });
}

/** Failures in one minute that are written, for all accounts: guesses must not fill the disk. */
const FAILURES_A_MINUTE = 200;

/**
 * A try to sign in that failed. One row a minute for an account, the first one. For an email that nobody has, the same
 * statement writes nothing, so that its time tells nothing.
 */
export async function noteFailedSignIn(
  trx: Database,
  of: { readonly emailKey: string } | { readonly accountId: number },
  { step, address }: { readonly step: 'password' | 'code' | 'confirm'; readonly address: string },
): Promise<void> {
  const who = 'emailKey' in of ? sql`a.email_key = ${of.emailKey}` : sql`a.id = ${of.accountId}`;
  await sql`
    insert into audit_log (action, actor_kind, actor_address, account_id, target_id, after, failed_minute)
    select 'session.fail', 'session', ${address}, a.id, a.id, ${JSON.stringify({ step })}::jsonb, m.minute
    from accounts a, (select date_trunc('minute', clock_timestamp()) as minute) m
    where ${who} and (
      select count(*) from (
        select from audit_log f where f.failed_minute = m.minute limit ${FAILURES_A_MINUTE}) n) < ${FAILURES_A_MINUTE}
    on conflict (failed_minute, account_id) where failed_minute is not null do nothing`.execute(trx);
}
