// The operator confirms that the holder of the domain here is the one who delegated it: a preset delegation ends, and
// the domain is served in full. Whether it is active, only a check decides, which is due at once.

import type { ChangedBy } from '../accounts/actor.ts';
import type { Domain } from '../domains/domain.ts';
import { findingsWithout } from '../domains/findings-column.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type DomainLock, lockDomain, lockDomainAndNames } from './lock-domain.ts';
import { servedNow } from './settle-enclosed.ts';
import { NEXT_CHECK_SEQ } from './start-status.ts';
import { writeDomainChange } from './write-domain-change.ts';

export type ApprovedDomain =
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
    const changeId = lock.row.preset === 'clear' ? undefined : await endPreset(trx, lock, { by, source });
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

/** Gives the domain back the sets that were taken away. */
async function endPreset(trx: Database, { row, now }: DomainLock, by: ChangedBy): Promise<number> {
  await trx
    .updateTable('domains')
    .set({
      preset: 'clear',
      preset_taken: '[]',
      findings: findingsWithout('PRESET_DELEGATION'),
      due_at: now,
      next_check_at: now,
      check_seq: NEXT_CHECK_SEQ,
    })
    .where('id', '=', row.id)
    .execute();
  const lock = (await lockDomain(trx, row.id)) as DomainLock;
  const { changeId } = await writeDomainChange(trx, lock, {
    ...by,
    operation: 'status',
    status: { from: row.status, to: row.status },
    served: await servedNow(trx, lock),
    publish: 'whole',
  });
  return changeId;
}
