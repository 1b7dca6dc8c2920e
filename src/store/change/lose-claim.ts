// A domain whose name another account has claimed: it is disabled, it releases the zone name, and a finding says why.
// Enabling it again claims the name anew.

import type { Finding } from '../../checks/delegation/findings.ts';
import { findingsWith } from '../domains/findings-column.ts';
import type { Database } from '../postgres/database.ts';
import { releaseName } from '../zones/write-zone.ts';
import { setParts } from './domain-parts.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { offParts } from './start-status.ts';
import { STATUS_BY_SYSTEM, type StatusChange, setPartsAndLock, writeStatus } from './write-status.ts';

/** The text does not tell which account has the name now. */
const CLAIM_LOST: Finding = {
  code: 'CLAIM_LOST',
  message:
    'Another account has this name now: it was free to be claimed while this domain was not in use here.',
};

/** Call it under `lockNamesAround`. If the domain is off already, only the holder of its name changes. */
export async function loseClaim(
  trx: Database,
  domainId: number,
  { checkId }: Pick<StatusChange, 'checkId'> = {},
): Promise<void> {
  const found = (await lockDomain(trx, domainId)) as DomainLock;
  const { status, zoneId } = found.row;
  if (status !== 'disabled' && status !== 'banned') {
    const lock = await setPartsAndLock(trx, domainId, offParts('disabled', 'checker'));
    await writeStatus(trx, found.row, lock, { ...STATUS_BY_SYSTEM, checkId });
  }
  const domain = { zone_id: null, findings: findingsWith(CLAIM_LOST), updated_at: found.now };
  await setParts(trx, domainId, { domain });
  if (zoneId !== null) await releaseName(trx, zoneId);
}
