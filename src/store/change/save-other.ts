// Writes a domain that gets or loses its name's zone because of another domain.

import type { DomainRow } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { type SettledName, servedIn } from './settle-name.ts';
import { STATUS_BY_SYSTEM, writeStatus } from './write-status.ts';

/** Does nothing if nodes serve as much of it as before. */
export async function writeOther(trx: Database, settled: SettledName, domainId: number): Promise<void> {
  const lock = (await lockDomain(trx, domainId)) as DomainLock;
  const served = servedIn(settled, domainId);
  const isLent = settled.lent?.id === domainId;
  if (served === lock.row.served && !settled.moved.includes(domainId) && !isLent) return;
  await writeStatus(trx, rowBefore(settled, lock.row), lock, served, STATUS_BY_SYSTEM);
}

/** The row as it was before the name was settled. */
function rowBefore({ lent }: SettledName, row: DomainRow): DomainRow {
  return lent?.id === row.id ? { ...row, lentNs: lent.before } : row;
}
