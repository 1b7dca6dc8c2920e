// Creates a domain and has it signed, if requested, in one transaction.

import { printWithoutDot } from '../../zone/name-text.ts';
import { writeAudit } from '../audit/write-audit.ts';
import {
  type ApprovedDomain,
  approveDomain,
  findOperatorsRivals,
  OPERATORS_RIVAL,
} from '../change/approve-domain.ts';
import { type CreatedDomain, createDomain, type NewDomain } from '../change/save-domain.ts';
import type { Domain } from '../domains/domain.ts';
import { findDomains, loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { type ChangedGoal, enableDnssec } from './change-goal.ts';
import type { SigningWishes } from './dnssec-state.ts';

type CreatedSigned = CreatedDomain | Extract<ChangedGoal, { kind: 'refused' }>;

/** The domain is not signed if `signing` is undefined. */
export async function createDomainSigned(
  db: Database,
  wanted: NewDomain,
  signing: SigningWishes | undefined,
): Promise<CreatedSigned> {
  if (signing === undefined) return await createDomain(db, wanted);
  return await inTransaction<CreatedSigned>(db, async (trx) => {
    const created = await createDomain(trx, wanted);
    if (created.kind !== 'created') return created;
    const { by, source } = wanted;
    const { domain } = created;
    const enabled = await enableDnssec(trx, { ...signing, domainId: domain.id, by, source });
    if (enabled.kind === 'refused') rollBackTo(enabled);
    if (enabled.kind === 'absent') throw new Error(`the new domain ${domain.id} does not exist`);
    return { ...created, domain: (await loadDomainById(trx, domain.id)) as Domain };
  });
}

type TakenIn =
  | CreatedSigned
  /** The account already had the domain. `changeId` is undefined if it did not change. */
  | { readonly kind: 'exists'; readonly domain: Domain; readonly changeId: number | undefined }
  | Extract<ApprovedDomain, { kind: 'refused' }>;

/**
 * Creates a domain for an account in a migration to this service. With `isApproved`, a domain that the account already
 * has is approved instead, so a list can be run again. The domain, its approval and the audit row are one transaction.
 * If `signing` is undefined, a new domain is not signed.
 */
export async function takeInDomain(
  db: Database,
  wanted: NewDomain,
  signing: SigningWishes | undefined,
): Promise<TakenIn> {
  return await inTransaction<TakenIn>(db, async (trx) => {
    const taken = await createOrApprove(trx, wanted, signing);
    const isChanged = taken.kind === 'created' || (taken.kind === 'exists' && taken.changeId !== undefined);
    if (isChanged && wanted.isApproved === true) {
      const { id: domainId, name } = taken.domain;
      const target = { name: printWithoutDot(name) };
      await writeAudit(trx, {
        action: 'domain.approve',
        by: wanted.by,
        domainId,
        target,
        after: { take: false },
      });
    }
    return taken;
  });
}

async function createOrApprove(
  trx: Database,
  wanted: NewDomain,
  signing: SigningWishes | undefined,
): Promise<TakenIn> {
  const created = await createDomainSigned(trx, wanted, signing);
  const { by, source, name, accountId, isApproved = false } = wanted;
  if (created.kind === 'created' && isApproved) {
    const rivals = await findOperatorsRivals(trx, { name: encodeNameColumn(name), accountId });
    if (rivals.length > 0) rollBackTo(OPERATORS_RIVAL);
  }
  if (created.kind !== 'taken') return created;
  const domain = (await findDomains(trx, name)).find((known) => known.accountId === accountId);
  if (domain === undefined) return created;
  if (!isApproved) return { kind: 'exists', domain, changeId: undefined };
  const approved = await approveDomain(trx, { domainId: domain.id, by, source });
  if (approved.kind === 'absent') return created; // deleted in the meantime
  return approved.kind === 'refused' ? approved : { ...approved, kind: 'exists' };
}
