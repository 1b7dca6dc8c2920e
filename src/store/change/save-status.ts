// Sets columns of a domain, in each of its parts, and writes what follows from them: one change of the domain, and changes of the domains
// inside it.

import type { DomainRow } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainParts } from './domain-parts.ts';
import type { DomainLock } from './lock-domain.ts';
import { settleEnclosed, takeEnclosedClaims } from './settle-enclosed.ts';
import type { WrittenChange } from './write-domain-change.ts';
import { type StatusChange, setPartsAndLock, writeStatus } from './write-status.ts';

/** Call it under `lockDomainAndNames`, with the lock that this gave. */
export async function saveStatus(
  trx: Database,
  before: DomainLock,
  parts: DomainParts,
  change: StatusChange,
): Promise<WrittenChange> {
  return await saveServed(trx, before.row, await setPartsAndLock(trx, before.row.id, parts), change);
}

/**
 * The same for columns that are set already; `before` as for `writeStatus`. A domain that becomes active takes the
 * claims inside it: its account has proved the name.
 */
export async function saveServed(
  trx: Database,
  before: DomainRow | undefined,
  after: DomainLock,
  change: StatusChange,
): Promise<WrittenChange> {
  const written = await writeStatus(trx, before, after, change);
  const { row } = after;
  if (row.status === 'active' && before?.status !== 'active') await takeEnclosedClaims(trx, row, change);
  await settleEnclosed(trx, row.name);
  return written;
}
