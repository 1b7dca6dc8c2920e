// A pending domain inside another account's pending, active or moved one is not served: the enclosing zone answers. So
// whatever happens to a domain can concern those inside it.

import { sql } from 'kysely';
import { type DomainState, type Served, servedOf } from '../zone/domain-status.ts';
import { isBelow, namesAbove } from './claim-name.ts';
import type { Database } from './database.ts';
import { lockDomain } from './lock-domain.ts';
import { writeDomainChange } from './write-domain-change.ts';

/** What nodes are to answer for a domain in this state. The caller has `lockNamesAround`. */
export async function servedNow(
  trx: Database,
  { name, accountId }: { readonly name: string; readonly accountId: number },
  state: DomainState,
  leaving: boolean,
): Promise<Served> {
  const served = servedOf(state, leaving);
  if (served === 'none' || state.status !== 'pending') return served;
  return (await isEnclosed(trx, name, accountId)) ? 'none' : served;
}

async function isEnclosed(trx: Database, nameText: string, accountId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from domains d where d.name = any(${namesAbove(nameText)}::text[]) and d.zone_id is not null
        and d.account_id <> ${accountId} and d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved')
    ) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

/** After a change of the domain of this name. */
export async function settleEnclosed(trx: Database, nameText: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select d.id from domains d
    where ${isBelow(nameText)} and d.zone_id is not null and d.status = 'pending' and d.dns_mode = 'managed'
    order by d.id`.execute(trx);
  for (const { id } of rows) {
    const lock = await lockDomain(trx, id);
    if (lock === undefined || lock.row.status !== 'pending' || lock.zone === undefined) continue;
    const { row } = lock;
    const served = await servedNow(trx, row, row, row.leaving);
    if (served === row.served) continue;
    await writeDomainChange(trx, lock, {
      by: { kind: 'system' },
      source: 'status',
      operation: 'status',
      status: { from: row.status, to: row.status },
      served,
      publish: 'whole',
    });
  }
}
