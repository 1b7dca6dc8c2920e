// A pending domain inside another account's pending, active or moved one is not served: the enclosing zone answers. So
// every change of a domain may affect the domains inside it.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { loseClaim } from './lose-claim.ts';
import { isBelow } from './names-around.ts';
import { STATUS_BY_SYSTEM, type StatusChange, servedNow, writeStatus } from './write-status.ts';

/** Settles the enclosed domains after a change of the domain of this name. */
export async function settleEnclosed(trx: Database, nameText: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select d.id from domains d
    where ${isBelow(nameText)} and d.zone_id is not null and d.status = 'pending' and d.dns_mode = 'managed'
    order by d.id`.execute(trx);
  for (const { id } of rows) {
    const lock = await lockDomain(trx, id);
    if (lock === undefined || lock.row.status !== 'pending' || lock.zone === undefined) continue;
    if ((await servedNow(trx, lock)) !== lock.row.served)
      await writeStatus(trx, lock.row, lock, STATUS_BY_SYSTEM);
  }
}

/**
 * An account that has proved a name takes it with all names inside: claims of other accounts there are lost
 * (docs/rules.md "Domain names").
 */
export async function takeEnclosedClaims(
  trx: Database,
  { name, accountId }: Pick<DomainLock['row'], 'name' | 'accountId'>,
  change: Pick<StatusChange, 'checkId'>,
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select d.id from domains d
    where ${isBelow(name)} and d.zone_id is not null and d.status = 'pending' and d.dns_mode = 'managed'
      and d.account_id <> ${accountId}
    order by d.id`.execute(trx);
  for (const { id } of rows) await loseClaim(trx, id, change);
}
