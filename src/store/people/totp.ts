// The second factor of an account: its sealed secret, the last accepted step, and its recovery codes.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { SealedSecret } from '../secrets/key-boxes.ts';

interface StoredTotp extends SealedSecret {
  /** True if a first code was accepted, so that each sign-in requires one. */
  readonly isConfirmed: boolean;
  readonly lastStep: number;
  /** The database's time. */
  readonly now: Date;
}

export async function loadTotp(db: Database, accountId: number): Promise<StoredTotp | undefined> {
  const { rows } = await sql<StoredTotp>`
    select box_id as "boxId", sealed, confirmed_at is not null as "isConfirmed", last_step as "lastStep",
      clock_timestamp() as now
    from account_totp where account_id = ${accountId}`.execute(db);
  return rows[0];
}

/** Returns false if the account already has a confirmed secret. */
export async function saveTotp(
  trx: Database,
  accountId: number,
  { boxId, sealed }: SealedSecret,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into account_totp as t (account_id, box_id, sealed) values (${accountId}, ${boxId}, ${sealed})
    on conflict (account_id) do update set box_id = excluded.box_id, sealed = excluded.sealed, last_step = 0
      where t.confirmed_at is null`.execute(trx);
  return numAffectedRows === 1n;
}

/** Accepts a code once. Returns false if this step or a later one was already accepted. */
export async function takeStep(trx: Database, accountId: number, step: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update account_totp set last_step = ${step} where account_id = ${accountId} and last_step < ${step}`.execute(
    trx,
  );
  return numAffectedRows === 1n;
}

export async function confirmTotp(
  trx: Database,
  accountId: number,
  recoveryHashes: readonly Buffer[],
): Promise<void> {
  await sql`update account_totp set confirmed_at = clock_timestamp() where account_id = ${accountId}`.execute(
    trx,
  );
  await sql`delete from recovery_codes where account_id = ${accountId}`.execute(trx);
  await sql`
    insert into recovery_codes (account_id, hash)
    select ${accountId}, hash from unnest(${recoveryHashes}::bytea[]) as h (hash)`.execute(trx);
}

export async function takeRecoveryCode(trx: Database, accountId: number, hash: Buffer): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from recovery_codes where account_id = ${accountId} and hash = ${hash}`.execute(trx);
  return numAffectedRows === 1n;
}

/** Returns false if the account has no second factor. */
export async function deleteTotp(trx: Database, accountId: number): Promise<boolean> {
  await sql`delete from recovery_codes where account_id = ${accountId}`.execute(trx);
  const { numAffectedRows } = await sql`delete from account_totp where account_id = ${accountId}`.execute(
    trx,
  );
  return numAffectedRows === 1n;
}
