// What API keys and machine tokens have in common: both are found by the hash of their text, whether or not they still count, and
// tell when they were used last.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf } from './accounts.ts';

type Table = 'api_keys' | 'reseller_tokens';

export interface FoundCredential<C> {
  readonly credential: C;
  readonly account: Account;
  /** Those that are revoked or expired are found too. */
  readonly state: 'valid' | 'revoked' | 'expired';
}

/** By their hash in hex. `columns` are of the table as `c`. */
export async function findCredentials<C>(
  db: Database,
  table: Table,
  columns: RawBuilder<unknown>,
  hashes: readonly Buffer[],
): Promise<Map<string, FoundCredential<C>>> {
  const { rows } = await sql<C & { hash: Buffer; account: AccountJson; state: FoundCredential<C>['state'] }>`
    select c.hash, ${columns},
      case when c.revoked_at is not null then 'revoked' when c.expires_at <= clock_timestamp() then 'expired'
        else 'valid' end as state,
      ${ACCOUNT_JSON} as account
    from ${sql.table(table)} c join accounts a on a.id = c.account_id left join plans p on p.id = a.plan_id
    where c.hash = any(${hashes}::bytea[])`.execute(db);
  return new Map(
    rows.map(({ hash, account, state, ...credential }) => [
      hash.toString('hex'),
      { credential: credential as C, account: accountOf(account), state },
    ]),
  );
}

/** Records a use, at most once a minute. */
export async function touchCredential(db: Database, table: Table, id: number): Promise<void> {
  await sql`
    update ${sql.table(table)} set last_used_at = clock_timestamp() where id = ${id}
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`.execute(db);
}
