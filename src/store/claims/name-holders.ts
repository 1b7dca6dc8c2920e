// Remembers which accounts had a name active here, for two years (docs/rules.md "Proof"): within 90 days a shared set that the
// parent showed before proves such an account's claim, and a single static set is no proof while another account held the name.

import { sql } from 'kysely';
import {
  HOLDERS_KEPT_MS,
  type NameHolder,
  wasHeldByOthers,
  wasHolder,
} from '../../checks/claims/name-holders.ts';
import type { DomainRow } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';

/**
 * Call it before a domain leaves its status for any reason. It does nothing when the domain was not delegated to us.
 */
export async function saveNameHolder(
  trx: Database,
  { name, accountId, dnsMode, status, movedSince }: DomainRow,
  now: Date,
): Promise<void> {
  if (dnsMode !== 'managed' || (status !== 'active' && status !== 'moved')) return;
  const activeAt = movedSince ?? now;
  await sql`
    insert into name_holders (name, account_id, active_at) values (${name}, ${accountId}, ${activeAt})
    on conflict (name, account_id) do update set active_at = excluded.active_at`.execute(trx);
}

/** Whether the account held the name within 90 days, and whether another one held it within two years. */
export async function loadHeld(
  db: Database,
  nameText: string,
  accountId: number,
): Promise<{ readonly wasHolder: boolean; readonly byOthers: boolean }> {
  const { rows } = await sql<NameHolder & { readonly nowMs: number }>`
    select account_id as "accountId", (extract(epoch from active_at) * 1000)::float8 as "activeAt",
      (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
    from name_holders where name = ${nameText}`.execute(db);
  const now = rows[0]?.nowMs ?? 0;
  return { wasHolder: wasHolder(rows, accountId, now), byOthers: wasHeldByOthers(rows, accountId, now) };
}

/** Selects what `name_holders` has for the names of domains `d`, as JSON. */
export const HOLDERS_OF_NAME = sql`(select coalesce(json_agg(json_build_object('accountId', h.account_id,
    'activeAt', extract(epoch from h.active_at) * 1000)), '[]')
  from name_holders h where h.name = d.name
    and h.active_at > clock_timestamp() - make_interval(secs => ${HOLDERS_KEPT_MS / 1000}))`;
