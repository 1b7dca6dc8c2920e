// Sets columns of a domain, in each of its parts, and writes what follows from them: one change of the domain, changes of the
// domains that get or lose the name's zone, and changes of the domains inside it.

import type { DomainRow } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import type { DomainParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { writeOther } from './save-other.ts';
import { settleAbove, settleBelow, takeEnclosedClaims } from './settle-enclosed.ts';
import { type SettledName, servedIn, settleName } from './settle-name.ts';
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
  await settleAbove(trx, after.row.name);
  const settled = await settleName(trx, after.row.name);
  return await writeSettled(trx, settled, before, after, change);
}

/** The same for a name that is settled already, as those above it are. */
export async function writeSettled(
  trx: Database,
  settled: SettledName,
  before: DomainRow | undefined,
  after: DomainLock,
  change: StatusChange,
): Promise<WrittenChange> {
  const { id, name, accountId } = after.row;
  // Who loses the zone first: the other one publishes the whole of it.
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
