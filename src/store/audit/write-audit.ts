// Writes the audit log. A row is written in the same transaction as the action that it records. Rows never change;
// housekeeping deletes old ones.

import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type AuditAction, ruleOf } from './audit-actions.ts';
import { recordedSides, type Told } from './tell-audit.ts';

/** Details that an action adds to its audit row. */
export interface AuditNote {
  /** The account that the row is about, if any. */
  readonly accountId?: number | undefined;
  /** The domain that the row is about, if any. */
  readonly domainId?: number | undefined;
  /** The target, unless it is the account or the domain itself. The name remains after the target is deleted. */
  readonly target?: { readonly id?: number | undefined; readonly name?: string | undefined };
  /** By API field names. Only the fields that the action lists are stored. */
  readonly before?: Told | undefined;
  readonly after?: Told | undefined;
}

interface AuditEntry extends AuditNote {
  readonly action: AuditAction;
  readonly by: Actor;
  /** The change-log row with the details. */
  readonly changeId?: number;
}

const MAX_NAME_CHARACTERS = 255;

export async function writeAudit(trx: Database, entry: AuditEntry): Promise<void> {
  await auditInsert(entry).execute(trx);
}

export async function writeAudits(trx: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await insertOf(entries).execute(trx);
}

/** The insert statement, which can also be part of a `with`. */
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
  const { before, after } = recordedSides(action, entry);
  const id = target.id ?? (ruleOf(action).target === 'account' ? accountId : undefined);
  return sql`(${action}, ${by.kind}, ${by.accountId ?? null}, ${by.keyId ?? null}, ${by.address ?? null},
      ${by.name ?? null}, ${accountId ?? null}, ${domainId ?? null}, ${changeId ?? null}, ${id ?? null},
      ${target.name?.slice(0, MAX_NAME_CHARACTERS) ?? null}, ${json(before)}::jsonb, ${json(after)}::jsonb)`;
}

function json(told: Told | undefined): string | null {
  return told === undefined ? null : JSON.stringify(told);
}

/**
 * Runs `work` and writes its audit rows in one transaction. `work` calls `tell` once per row; a refused action calls it
 * never and so leaves no row.
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

/** Maximum of failed sign-ins recorded per minute for all accounts, so that password guessing cannot fill the disk. */
const FAILURES_PER_MINUTE = 200;

/**
 * Records a failed sign-in, at most one per minute and account. For an unknown email the same statement writes nothing,
 * so that the response time does not reveal whether an account exists.
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
        select from audit_log f where f.failed_minute = m.minute limit ${FAILURES_PER_MINUTE}) n) < ${FAILURES_PER_MINUTE}
    on conflict (failed_minute, account_id) where failed_minute is not null do nothing`.execute(trx);
}
