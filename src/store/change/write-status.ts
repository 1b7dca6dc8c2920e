// Writes the change after a domain's columns have changed: what nodes serve of it now, and the log entry.

import type { RawBuilder } from 'kysely';
import type { Finding } from '../../checks/delegation/finding.ts';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import type { Served } from '../../zone/domain/domain-status.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { endRights, saveNameHolder } from '../claims/name-rights.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import { findingsWith } from '../domains/domain-row.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainOperation } from '../postgres/tables/schema.ts';
import { type DomainParts, setParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { type SettledName, servedIn } from './settle-name.ts';
import { NOT_CHECKED, offParts } from './start-status.ts';
import { type WrittenChange, writeDomainChange } from './write-domain-change.ts';

export interface StatusChange extends ChangedBy {
  readonly operation: DomainOperation;
  readonly checkId?: number | undefined;
  /** True if this transaction created the domain: it has no records. */
  readonly isNew?: boolean;
  /** As in `writeDomainChange`. */
  readonly also?: readonly RawBuilder<unknown>[];
}

export const STATUS_BY_SYSTEM = { by: { kind: 'system' }, source: 'status', operation: 'status' } as const;

/** Returns the domain's lock with the updated row. */
export async function setPartsAndLock(
  trx: Database,
  domainId: number,
  parts: DomainParts,
): Promise<DomainLock> {
  await setParts(trx, domainId, parts);
  return (await lockDomain(trx, domainId)) as DomainLock;
}

/**
 * Call it under `lockNamesAround`.
 * @param before the row before its columns were set; undefined for a new domain
 * @param after the lock taken since then
 * @param served what nodes serve of the domain now
 */
export async function writeStatus(
  trx: Database,
  before: DomainRow | undefined,
  after: DomainLock,
  served: Served,
  { by, source, operation, checkId, isNew = false, also = [] }: StatusChange,
): Promise<WrittenChange> {
  const living = before?.deletedAt === null ? before : undefined;
  const isWhole = living === undefined || !hasSameNameservers(living, after);
  return await writeDomainChange(trx, after, {
    by,
    source,
    operation,
    status: { from: living?.status ?? null, to: after.row.status },
    ...(checkId !== undefined && { checkId }),
    isNew,
    also,
    served,
    publish: isWhole ? 'whole' : new Map(),
  });
}

export function hasSameNameservers(before: DomainRow, { row, settings }: DomainLock): boolean {
  return nameserversOf(before, settings).join() === nameserversOf(row, settings).join();
}

/**
 * Disables a domain that loses its claim, with a finding that gives the reason. Its configuration is kept, and enabling
 * it claims the name again. Call it under `lockNamesAround`. The caller settles the domain's name if it is a different
 * one.
 */
export async function loseClaim(
  trx: Database,
  domainId: number,
  {
    checkId,
    finding = FINDINGS.CLAIM_LOST(),
  }: Pick<StatusChange, 'checkId'> & { readonly finding?: Finding } = {},
): Promise<void> {
  const found = (await lockDomain(trx, domainId)) as DomainLock;
  const { status, name, accountId } = found.row;
  if (status === 'disabled' || status === 'banned') return;
  await saveNameHolder(trx, found.row, found.now);
  const off = offParts('disabled', 'checker', found.now);
  const parts = {
    ...off,
    domain: { ...off.domain, findings: findingsWith(finding), updated_at: found.now },
    // In external mode no delegation can restore it.
    ...(found.row.dnsMode === 'external' && { check: NOT_CHECKED.check }),
  };
  const lock = await setPartsAndLock(trx, domainId, parts);
  await writeStatus(trx, found.row, lock, 'none', { ...STATUS_BY_SYSTEM, checkId });
  // A domain that only gave up its slot to another claim keeps its rights to prove the name.
  if (finding.code !== 'CLAIM_DISPLACED') await endRights(trx, name, accountId);
}

/** Writes a domain that gets or loses its name's zone because of another one. Does nothing if it is served as before. */
export async function writeOther(trx: Database, settled: SettledName, domainId: number): Promise<void> {
  const lock = (await lockDomain(trx, domainId)) as DomainLock;
  const served = servedIn(settled, domainId);
  const isLent = settled.lent?.id === domainId;
  if (served === lock.row.served && !settled.moved.includes(domainId) && !isLent) return;
  await writeStatus(trx, rowBefore(settled, lock.row), lock, served, STATUS_BY_SYSTEM);
}

/** Returns the row as it was before the name was settled. */
function rowBefore({ lent }: SettledName, row: DomainRow): DomainRow {
  return lent?.id === row.id ? { ...row, lentNs: lent.before } : row;
}
