// Writes a domain that gets or loses its name's zone because of another domain.

import type { Database } from '../postgres/database.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { type SettledName, servedIn } from './settle-name.ts';
import { STATUS_BY_SYSTEM, writeStatus } from './write-status.ts';

/** Does nothing if nodes serve as much of it as before. */
export async function writeOther(trx: Database, settled: SettledName, domainId: number): Promise<void> {
  const lock = (await lockDomain(trx, domainId)) as DomainLock;
  const served = servedIn(settled, domainId);
  if (served === lock.row.served && !settled.moved.includes(domainId)) return;
  await writeStatus(trx, lock.row, lock, served, STATUS_BY_SYSTEM);
}
