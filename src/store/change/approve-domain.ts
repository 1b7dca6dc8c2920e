// The operator confirms that the holder of the domain here is the one who delegated it: a preset delegation ends, and
// the domain is served in full. Whether it is active, only a check decides, which is due at once.

import type { ChangedBy } from '../accounts/actor.ts';
import type { Domain } from '../domains/domain.ts';
import { findingsWithout } from '../domains/findings-column.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type DomainLock, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';

type ApprovedDomain =
  /** Without `changeId` there was nothing to approve. */
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' };

export async function approveDomain(
  db: Database,
  { domainId, by, source }: ChangedBy & { readonly domainId: number },
): Promise<ApprovedDomain> {
  return await inTransaction<ApprovedDomain>(db, async (trx) => {
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    if (lock.row.preset === 'clear') return await approved(trx, domainId, undefined);
    const { changeId } = await saveStatus(trx, lock, partsAfter(lock), { by, source, operation: 'status' });
    return await approved(trx, domainId, changeId);
  });
}

async function approved(
  trx: Database,
  domainId: number,
  changeId: number | undefined,
): Promise<ApprovedDomain> {
  return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
}

/** Gives the domain back the sets that were taken away. */
function partsAfter({ now }: DomainLock) {
  return {
    domain: { preset: 'clear', preset_taken: '[]', findings: findingsWithout('PRESET_DELEGATION') },
    check: { due_at: now, next_at: now },
  } as const;
}
