// Browsers in which somebody has signed in to an account. Each gets a cookie, so that others' failures to sign in do not keep
// its user out.

import { sql } from 'kysely';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/secret-text.ts';
import type { Database } from '../postgres/database.ts';

const MAX_DEVICES = 20;

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

/** Gives the device's token: the one that it has, or a new one. */
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
