// The domains around a domain. A claim inside or above another account's domain is answered only as far as that one leaves room, so
// every change of a domain may affect those.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { DomainLock } from './lock-domain.ts';
import { loseClaim } from './lose-claim.ts';
import { isBelow, namesAbove } from './names-around.ts';
import { writeOther } from './save-other.ts';
import { settleName } from './settle-name.ts';
import type { StatusChange } from './write-status.ts';

/**
 * Settles the names that wait above this one after its domains' columns have changed. What is answered of a name depends on
 * what is answered above it: call it before the name itself is settled.
 */
export async function settleAbove(trx: Database, nameText: string): Promise<void> {
  await settleThose(trx, sql`d.name = any(${namesAbove(nameText)}::text[])`);
}

/** Settles the names that wait inside this one after it was settled itself. */
export async function settleBelow(trx: Database, nameText: string): Promise<void> {
  await settleThose(trx, isBelow(nameText));
}

/** Settles one name after something has changed that none of its domains' own columns has, and those inside it. */
export async function settleAgain(trx: Database, nameText: string): Promise<void> {
  await settleOne(trx, nameText);
  await settleBelow(trx, nameText);
}

async function settleThose(trx: Database, condition: ReturnType<typeof sql>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select d.name from domains d
    where ${condition} and d.deleted_at is null and d.status = 'pending' and d.dns_mode = 'managed'
    group by d.name order by length(d.name), d.name`.execute(trx);
  for (const { name } of rows) await settleOne(trx, name);
}

async function settleOne(trx: Database, nameText: string): Promise<void> {
  const settled = await settleName(trx, nameText);
  const { rows } = await sql<{ id: number }>`
    select id from domains where name = ${nameText} and deleted_at is null and zone_id is not null`.execute(
    trx,
  );
  const ids = new Set([...settled.moved, ...rows.map(({ id }) => id)]);
  const last = settled.answered?.id;
  for (const id of ids) if (id !== last) await writeOther(trx, settled, id);
  if (last !== undefined) await writeOther(trx, settled, last);
}

/**
 * An account that has proved a name takes it with all names inside: claims of other accounts there are lost, unless its
 * records delegate them (docs/rules.md "Domain names").
 */
export async function takeEnclosedClaims(
  trx: Database,
  { id: domainId, name, accountId }: Pick<DomainLock['row'], 'id' | 'name' | 'accountId'>,
  change: Pick<StatusChange, 'checkId'>,
): Promise<void> {
  const { rows } = await sql<{ id: number; name: string }>`
    select d.id, d.name from domains d
    where ${isBelow(name)} and d.deleted_at is null and d.account_id <> ${accountId}
      and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))
      and not exists (select from records r where r.domain_id = ${domainId} and r.type = 'NS' and not r.managed
        and (r.name = d.name or right(d.name, length(r.name) + 1) = '.' || r.name))
    order by d.id`.execute(trx);
  for (const { id } of rows) await loseClaim(trx, id, change);
}
