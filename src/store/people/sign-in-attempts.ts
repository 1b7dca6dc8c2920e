// Counts failed sign-ins in Postgres for all API processes, and stores the browsers that are exempt. Workers delete
// rows that are no longer needed.

import { sql } from 'kysely';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface Failures {
  readonly count: number;
  readonly windowEndsAt: Date;
  /** Number of times that the limit was recently reached. */
  readonly blocks: number;
  readonly blockedUntil: Date | null;
}

/** Hours for which a state is kept after its block ends. */
const KEPT_HOURS = 24;

export async function loadFailures(
  db: Database,
  keys: readonly string[],
): Promise<{ readonly failures: ReadonlyMap<string, Failures>; readonly now: Date }> {
  const { rows } = await sql<{ key: string | null; now: Date } & Failures>`
    select f.key, f.count, f.window_ends_at as "windowEndsAt", f.blocks, f.blocked_until as "blockedUntil",
      clock_timestamp() as now
    from (select 1) one left join sign_in_failures f on f.key = any(${keys}::text[])`.execute(db);
  const known = rows.flatMap(({ key, now: _, ...state }) => (key === null ? [] : [[key, state] as const]));
  return { failures: new Map(known), now: rows[0]?.now as Date };
}

/** Counts one more failure. `next` computes the new state. `also` runs in the same transaction. */
export async function noteFailure(
  db: Database,
  key: string,
  next: (before: Failures, now: Date) => Failures,
  also?: (trx: Database) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`
      insert into sign_in_failures (key, count, window_ends_at, blocks, kept_until)
      values (${key}, 0, clock_timestamp(), 0, clock_timestamp()) on conflict do nothing`.execute(trx);
    const { rows } = await sql<Failures & { now: Date }>`
      select count, window_ends_at as "windowEndsAt", blocks, blocked_until as "blockedUntil", clock_timestamp() as now
      from sign_in_failures where key = ${key} for update`.execute(trx);
    const { now, ...before } = rows[0] as Failures & { now: Date };
    const { count, windowEndsAt, blocks, blockedUntil } = next(before, now);
    await sql`
      update sign_in_failures set count = ${count}, window_ends_at = ${windowEndsAt}, blocks = ${blocks},
        blocked_until = ${blockedUntil},
        kept_until = greatest(${windowEndsAt}::timestamptz, ${blockedUntil}::timestamptz
          + make_interval(hours => ${KEPT_HOURS}::integer))
      where key = ${key}`.execute(trx);
    await also?.(trx);
  });
}

const MAX_DEVICES = 20;

/** Returns true if this browser (by its cookie) has signed in to the account, so that failures of others do not block it. */
export async function isDeviceOf(
  db: Database,
  emailKey: string,
  token: string | undefined,
): Promise<boolean> {
  if (token === undefined || !isSecretText('dev_', token)) return false;
  const { rows } = await sql`
    select from account_devices d join accounts a on a.id = d.account_id
    where d.hash = ${hashSecret(token)} and a.email_key = ${emailKey}`.execute(db);
  return rows.length > 0;
}

/** Returns the device's token: the existing one, or a new one. */
export async function rememberDevice(trx: Database, accountId: number, token?: string): Promise<string> {
  if (token !== undefined && isSecretText('dev_', token)) {
    const { numAffectedRows } = await sql`
      update account_devices set used_at = clock_timestamp()
      where hash = ${hashSecret(token)} and account_id = ${accountId}`.execute(trx);
    if (numAffectedRows === 1n) return token;
  }
  const made = makeSecretText('dev_');
  await sql`insert into account_devices (hash, account_id) values (${hashSecret(made)}, ${accountId})`.execute(
    trx,
  );
  await sql`
    delete from account_devices where hash in (
      select hash from account_devices where account_id = ${accountId} order by used_at desc offset ${MAX_DEVICES})`.execute(
    trx,
  );
  return made;
}
