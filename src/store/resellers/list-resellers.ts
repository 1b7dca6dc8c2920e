// The resellers with what operators watch: their clients, what they hold or owe, and since when.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface ListedReseller {
  readonly id: number;
  readonly email: string;
  readonly active: boolean;
  readonly clients: number;
  readonly balanceRials: number;
  readonly negativeSince: Date | null;
  /** The domains of the reseller and of its clients are suspended since then. */
  readonly suspendedAt: Date | null;
}

/** By email. */
export async function listResellers(db: Database): Promise<ListedReseller[]> {
  const { rows } = await sql<ListedReseller>`
    select a.id, a.email, a.active, coalesce(w.balance_rials, 0) as "balanceRials",
      w.negative_since as "negativeSince", w.suspended_at as "suspendedAt",
      (select count(*) from accounts client where client.provider_id = a.id) as clients
    from accounts a left join wallets w on w.account_id = a.id
    where a.is_reseller order by lower(a.email) collate "C"`.execute(db);
  return rows;
}

interface ListedClient {
  readonly id: number;
  readonly email: string;
  readonly active: boolean;
  readonly balanceRials: number;
  /** Deleted ones left out. */
  readonly domains: number;
}

/** By email, behind one of them. */
export async function listClientsOf(
  db: Database,
  resellerId: number,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<ListedClient[]> {
  const { rows } = await sql<ListedClient>`
    select a.id, a.email, a.active, coalesce(w.balance_rials, 0) as "balanceRials",
      (select count(*) from domains d where d.account_id = a.id and d.deleted_at is null) as domains
    from accounts a left join wallets w on w.account_id = a.id
    where a.provider_id = ${resellerId} and lower(a.email) collate "C" > lower(${after})
    order by lower(a.email) collate "C" limit ${limit}`.execute(db);
  return rows;
}
