// Restores a deleted domain.

import { FINDINGS } from '../../checks/delegation/findings.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { resumeSubscription, startSubscription } from '../accounts/subscriptions.ts';
import { setsForClaim } from '../claims/claim-sets.ts';
import { type Domain, RESTORABLE_DAYS } from '../domains/domain.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { claimName } from './claim-name.ts';
import type { DomainParts } from './domain-parts.ts';
import { type DomainLock, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';
import { startParts } from './start-status.ts';
import { loseClaim } from './write-status.ts';

type RestoredDomain =
  | { readonly kind: 'restored'; readonly domain: Domain; readonly changeId: number }
  | { readonly kind: 'absent' | 'not_deleted' | 'taken'; readonly message: string };

/** Restores a domain as it was, except for its status: its delegation is checked again. `exempt` as for a new domain. */
export async function restoreDomain(
  db: Database,
  {
    domainId,
    exempt = false,
    by,
    source,
  }: ChangedBy & { readonly domainId: number; readonly exempt?: boolean },
): Promise<RestoredDomain> {
  return await inTransaction<RestoredDomain>(db, async (trx) => {
    const found = await lockDomainAndNames(trx, domainId);
    if (found === undefined) return { kind: 'absent', message: 'there is no such domain' };
    const { row, settings, now } = found;
    if (row.deletedAt === null) return { kind: 'not_deleted', message: 'the domain is not deleted' };
    if (now.getTime() - row.deletedAt.getTime() > RESTORABLE_DAYS * 86_400_000) {
      return { kind: 'absent', message: `the domain was deleted more than ${RESTORABLE_DAYS} days ago` };
    }
    const { accountId, name: nameText } = row;
    const claimed = await claimName(trx, {
      nameText,
      accountId,
      exempt: true,
      needsPlace: !exempt,
      transfer: false,
      domainId,
      settings,
    });
    if (claimed.kind !== 'claimed') rollBackTo({ ...claimed, kind: 'taken' } satisfies RestoredDomain);
    if (claimed.displaced !== undefined)
      await loseClaim(trx, claimed.displaced, { finding: FINDINGS.CLAIM_DISPLACED() });
    // A domain that was off claims nothing. It gets its sets when it is enabled.
    const wasOff = row.status === 'disabled' || row.status === 'banned';
    if (!(await resumeSubscription(trx, domainId)) && row.plan !== null) {
      await startSubscription(trx, { domainId, accountId, planId: row.plan.id });
    }
    const start = wasOff ? stillOff(found) : await startAgain(trx, found, exempt);
    const parts: DomainParts = {
      ...start,
      domain: {
        ...start.domain,
        deleted_at: null,
        serial: claimed.serial ?? row.serial,
      },
      ...(!wasOff && { check: { ...start.check, ours_at: null } }),
    };
    const { changeId } = await saveStatus(trx, found, parts, { by, source, operation: 'restore' });
    return { kind: 'restored', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

/** A domain that the checker disabled may recover automatically, so it is checked again. */
function stillOff({ row, now }: DomainLock): DomainParts {
  return row.disabledBy === 'checker' ? { check: { due_at: now } } : {};
}

async function startAgain(
  trx: Database,
  { row, settings, now }: DomainLock,
  exempt: boolean,
): Promise<DomainParts> {
  const { name: nameText, accountId, dnsMode } = row;
  const claim = { nameText, accountId, byOperator: exempt, settings };
  const nsSets = dnsMode === 'managed' ? await setsForClaim(trx, claim) : row.nsSets;
  return startParts({ dnsMode, nsSets, byOperator: exempt, now });
}
