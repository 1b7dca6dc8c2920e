// What an account has of a name passes to another one, with its domain: nothing of it is left to the old account.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Call it under `lockNamesAround`. */
export async function passNamePast(
  trx: Database,
  { name, from, to }: { readonly name: string; readonly from: number; readonly to: number },
): Promise<void> {
  // A right is that of one account for a name and a set, so the new account has none of these yet.
  await sql`update ns_rights set account_id = ${to} where name = ${name} and account_id = ${from}`.execute(
    trx,
  );
  await sql`
    with former as (
      delete from name_holders where name = ${name} and account_id = ${from} returning active_at)
    insert into name_holders as h (name, account_id, active_at) select ${name}, ${to}::bigint, f.active_at from former f
    on conflict (name, account_id) do update set active_at = greatest(h.active_at, excluded.active_at)`.execute(
    trx,
  );
  await sql`update swept_names set account_id = ${to} where name = ${name} and account_id = ${from}`.execute(
    trx,
  );
}
