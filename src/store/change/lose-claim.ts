// A domain that loses its claim: it is disabled, and a finding says why. Its configuration is kept, and enabling it claims the
// name anew.

import { FINDINGS, type Finding } from '../../checks/delegation/findings.ts';
import { saveNameHolder } from '../claims/name-holders.ts';
import { endRights } from '../claims/rights.ts';
import { findingsWith } from '../domains/findings-column.ts';
import type { Database } from '../postgres/database.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { NOT_CHECKED, offParts } from './start-status.ts';
import { STATUS_BY_SYSTEM, type StatusChange, setPartsAndLock, writeStatus } from './write-status.ts';

/** Call it under `lockNamesAround`. The caller settles the name of the domain if it has another one. */
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
    // In external mode no delegation brings it back.
    ...(found.row.dnsMode === 'external' && { check: NOT_CHECKED.check }),
  };
  const lock = await setPartsAndLock(trx, domainId, parts);
  await writeStatus(trx, found.row, lock, 'none', { ...STATUS_BY_SYSTEM, checkId });
  // Who only gave its place to another claim keeps what it may prove the name with.
  if (finding.code !== 'CLAIM_DISPLACED') await endRights(trx, name, accountId);
}
