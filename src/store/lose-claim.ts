// A domain that another account's has taken the place of: it is disabled, its name is nobody's, and a finding says why. To
// enable it is to claim the name anew.

import type { Finding } from '../checks/findings.ts';
import type { Database } from './database.ts';
import { findingsWith } from './findings-column.ts';
import { type DomainLock, lockDomain } from './lock-domain.ts';
import { NEXT_CHECK_SEQ, offColumns } from './start-status.ts';
import { writeDomainChange } from './write-domain-change.ts';
import { releaseName } from './write-zone.ts';

/** It does not tell whose the name is now. */
const CLAIM_LOST: Finding = {
  code: 'CLAIM_LOST',
  message:
    'Another account has this name now: it was free to be claimed while this domain was not in use here.',
};

/** Under `lockNamesAround`. One that is off already has nothing more to change than who holds its name. */
export async function loseClaim(
  trx: Database,
  domainId: number,
  { checkId }: { readonly checkId?: number } = {},
): Promise<void> {
  const found = (await lockDomain(trx, domainId)) as DomainLock;
  const { status, zoneId } = found.row;
  if (status !== 'disabled' && status !== 'banned') {
    await trx
      .updateTable('domains')
      .set(offColumns('disabled', 'checker'))
      .where('id', '=', domainId)
      .execute();
    const lock = (await lockDomain(trx, domainId)) as DomainLock;
    await writeDomainChange(trx, lock, {
      by: { kind: 'system' },
      source: 'status',
      operation: 'status',
      status: { from: status, to: 'disabled' },
      ...(checkId !== undefined && { checkId }),
      served: 'none',
      publish: 'whole',
    });
  }
  await trx
    .updateTable('domains')
    .set({
      zone_id: null,
      findings: findingsWith(CLAIM_LOST),
      check_seq: NEXT_CHECK_SEQ,
      updated_at: found.now,
    })
    .where('id', '=', domainId)
    .execute();
  if (zoneId !== null) await releaseName(trx, zoneId);
}
