// Writes the change that follows when a domain's columns have changed: what nodes serve of it now, and the log's entry.

import type { Served } from '../../zone/domain/domain-status.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { type DomainRow, nameserversOf } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainOperation } from '../postgres/tables/schema.ts';
import { type DomainParts, setParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { type WrittenChange, writeDomainChange } from './write-domain-change.ts';

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
 * the lock that was taken since. `served`: what nodes serve of it now.
 */
export async function writeStatus(
  trx: Database,
  before: DomainRow | undefined,
  after: DomainLock,
  served: Served,
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
    served,
    publish: isWhole ? 'whole' : new Map(),
  });
}

export function hasSameNameservers(before: DomainRow, { row, settings }: DomainLock): boolean {
  return nameserversOf(before, settings).join() === nameserversOf(row, settings).join();
}
