// A pending domain inside another account's pending, active or moved one is not served: the enclosing zone answers. So
// every change of a domain may affect the domains inside it.

import { sql } from 'kysely';
import { type Served, servedOf } from '../../zone/domain/domain-status.ts';
import type { Database } from '../postgres/database.ts';
import { isBelow, namesAbove } from './claim-name.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { loseClaim } from './lose-claim.ts';
import { nameserversOf, writeDomainChange } from './write-domain-change.ts';

/** What nodes must answer for a domain with this row. The caller holds `lockNamesAround`. */
export async function servedNow(
  trx: Database,
  { row, settings }: Pick<DomainLock, 'row' | 'settings'>,
): Promise<Served> {
  const { leaving, preset } = row;
  const served = servedOf(row, { leaving, preset, hasSet: nameserversOf(row, settings).length > 0 });
  if (served === 'none' || row.status !== 'pending') return served;
  return (await isEnclosed(trx, row.name, row.accountId)) ? 'none' : served;
}

async function isEnclosed(trx: Database, nameText: string, accountId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from domains d where d.name = any(${namesAbove(nameText)}::text[]) and d.zone_id is not null
        and d.account_id <> ${accountId} and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))
    ) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

/** Settles the enclosed domains after a change of the domain of this name. */
export async function settleEnclosed(trx: Database, nameText: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select d.id from domains d
    where ${isBelow(nameText)} and d.zone_id is not null and d.status = 'pending' and d.dns_mode = 'managed'
    order by d.id`.execute(trx);
  for (const { id } of rows) {
    const lock = await lockDomain(trx, id);
    if (lock === undefined || lock.row.status !== 'pending' || lock.zone === undefined) continue;
    const { row } = lock;
    const served = await servedNow(trx, lock);
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

/**
 * An account that has proved a name takes it with all names inside: claims of other accounts there are lost
 * (docs/rules.md "Domain names").
 */
export async function takeEnclosedClaims(
  trx: Database,
  { name, accountId }: Pick<DomainLock['row'], 'name' | 'accountId'>,
  { checkId }: { readonly checkId?: number } = {},
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select d.id from domains d
    where ${isBelow(name)} and d.zone_id is not null and d.status = 'pending' and d.dns_mode = 'managed'
      and d.account_id <> ${accountId}
    order by d.id`.execute(trx);
  for (const { id } of rows) await loseClaim(trx, id, checkId === undefined ? {} : { checkId });
}
