// Writes the change that follows when a domain's columns have changed: what nodes serve of it now, and the log's entry.

import { sql } from 'kysely';
import { type Served, servedOf } from '../../zone/domain/domain-status.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import type { DomainRow } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainOperation } from '../postgres/schema.ts';
import { type DomainParts, setParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { namesAbove } from './names-around.ts';
import { nameserversOf, type WrittenChange, writeDomainChange } from './write-domain-change.ts';

export interface StatusChange extends ChangedBy {
  readonly operation: DomainOperation;
  /** The check that made the change. */
  readonly checkId?: number | undefined;
}

export const STATUS_BY_SYSTEM = { by: { kind: 'system' }, source: 'status', operation: 'status' } as const;

/** Gives the domain's lock with the row as it is now. */
export async function setPartsAndLock(
  trx: Database,
  domainId: number,
  parts: DomainParts,
): Promise<DomainLock> {
  await setParts(trx, domainId, parts);
  return (await lockDomain(trx, domainId)) as DomainLock;
}

/**
 * Call it under `lockNamesAround`. `before`: the row before its columns were set, undefined for a new domain. `after`:
 * the lock that was taken since.
 */
export async function writeStatus(
  trx: Database,
  before: DomainRow | undefined,
  after: DomainLock,
  { by, source, operation, checkId }: StatusChange,
): Promise<WrittenChange> {
  const living = before?.deletedAt === null ? before : undefined;
  const isWhole = living === undefined || !hasSameNameservers(living, after);
  return await writeDomainChange(trx, after, {
    by,
    source,
    operation,
    status: { from: living?.status ?? null, to: after.row.status },
    ...(checkId !== undefined && { checkId }),
    served: await servedNow(trx, after),
    publish: isWhole ? 'whole' : new Map(),
  });
}

export function hasSameNameservers(before: DomainRow, { row, settings }: DomainLock): boolean {
  return nameserversOf(before, settings) === nameserversOf(row, settings);
}

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

/** A pending domain inside another account's pending, active or moved one is not served: the enclosing zone answers. */
async function isEnclosed(trx: Database, nameText: string, accountId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from domains d where d.name = any(${namesAbove(nameText)}::text[]) and d.zone_id is not null
        and d.account_id <> ${accountId} and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))
    ) as found`.execute(trx);
  return rows[0]?.found ?? false;
}
