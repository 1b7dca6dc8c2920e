// Sets columns of a domain and writes the resulting changes: of the domain, of domains that get or lose the name's
// zone, and of domains above and below it, since what is answered of a claim depends on the domains around it.

import { sql } from 'kysely';
import type { DomainRow } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { isBelow, namesAbove } from './claim-name.ts';
import type { DomainParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { type SettledName, servedIn, settleName } from './settle-name.ts';
import type { WrittenChange } from './write-domain-change.ts';
import { loseClaim, type StatusChange, setPartsAndLock, writeOther, writeStatus } from './write-status.ts';

/** Sets columns of a domain. Call it under `lockDomainAndNames`, with the lock that it returned. */
export async function saveStatus(
  trx: Database,
  before: DomainLock,
  parts: DomainParts,
  change: StatusChange,
): Promise<WrittenChange> {
  return await saveServed(trx, before.row, await setPartsAndLock(trx, before.row.id, parts), change);
}

/**
 * Does the same for columns that are already set. `before` as for `writeStatus`. A domain that becomes active takes the
 * claims inside it, because its account has proved the name.
 */
export async function saveServed(
  trx: Database,
  before: DomainRow | undefined,
  after: DomainLock,
  change: StatusChange,
): Promise<WrittenChange> {
  await settleAbove(trx, after.row.name);
  const settled = await settleName(trx, after.row.name);
  return await writeSettled(trx, settled, before, after, change);
}

/** Does the same for a name that is already settled together with the names above it. */
export async function writeSettled(
  trx: Database,
  settled: SettledName,
  before: DomainRow | undefined,
  after: DomainLock,
  change: StatusChange,
): Promise<WrittenChange> {
  const { id, name, accountId } = after.row;
  // The domains that lose the zone come first, because the other one publishes the whole zone.
  for (const other of settled.moved)
    if (other !== id && other !== settled.answered?.id) await writeOther(trx, settled, other);
  const isStale = settled.moved.includes(id) || settled.lent?.id === id;
  const lock = isStale ? ((await lockDomain(trx, id)) as DomainLock) : after;
  const written = await writeStatus(trx, before, lock, servedIn(settled, id), change);
  if (settled.answered !== undefined && settled.answered.id !== id)
    await writeOther(trx, settled, settled.answered.id);
  if (after.row.status === 'active' && before?.status !== 'active')
    await takeEnclosedClaims(trx, { id, name, accountId }, change);
  await settleBelow(trx, name);
  return written;
}

/**
 * Settles the waiting names above this one after its domains' columns have changed. What is answered of a name depends
 * on the names above it, so call this before settling the name itself.
 */
export async function settleAbove(trx: Database, nameText: string): Promise<void> {
  await settleThose(trx, sql`d.name = any(${namesAbove(nameText)}::text[])`);
}

/** Settles the waiting names inside this one. Call it after settling the name itself. */
export async function settleBelow(trx: Database, nameText: string): Promise<void> {
  await settleThose(trx, isBelow(nameText));
}

/** Settles a name and the names inside it after a change that the functions above did not write. */
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
 * An account that has proved a name takes all names inside it. Other accounts lose their claims there, unless the
 * account's records delegate them (docs/rules.md "Domain names").
 */
async function takeEnclosedClaims(
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
