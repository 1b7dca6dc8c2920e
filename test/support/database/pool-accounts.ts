// Settings with a nameserver pool, and accounts with known sets, because two random sets could share a name.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';
import { TEST_SETTINGS } from './database.ts';
import { newAccount } from './domains.ts';

export const POOL = {
  ...TEST_SETTINGS,
  nameserverPool: [['ns[1-8].a.example.'], ['ns[1-8].b.example.']],
  nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
};

/** The account's set is `nsN.a.example.` and `nsN.b.example.`, which shares no name with other accounts' sets. */
export async function newPoolAccount(db: Database, email: string, n: number): Promise<number> {
  const accountId = await newAccount(db, email);
  const names = [`ns${n}.a.example.`, `ns${n}.b.example.`];
  await sql`
    with given as (
      insert into given_ns_sets (names, kind, account_id) values (${names}::text[], 'exclusive', ${accountId})
      returning names)
    insert into account_ns_sets (account_id, names) select ${accountId}, names from given`.execute(db);
  return accountId;
}
