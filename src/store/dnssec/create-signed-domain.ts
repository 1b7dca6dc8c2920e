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

type TakenIn = CreatedUnlessOwn | Extract<ApprovedDomain, { kind: 'refused' }>;

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
  const created = await createUnlessOwn(trx, wanted, signing);
  const { by, source, name, accountId, isApproved = false } = wanted;
  if (!isApproved) return created;
  if (created.kind === 'created') {
    const rivals = await findOperatorsRivals(trx, { name: encodeNameColumn(name), accountId });
    if (rivals.length > 0) rollBackTo(OPERATORS_RIVAL);
  }
  if (created.kind !== 'exists') return created;
  const approved = await approveDomain(trx, { domainId: created.domain.id, by, source });
  if (approved.kind === 'absent') return { kind: 'taken', message: 'the domain was just deleted' };
  return approved.kind === 'refused' ? approved : { ...approved, kind: 'exists' };
}

type CreatedUnlessOwn =
  | CreatedSigned
  /** The account already had the domain. `changeId` is undefined if it did not change. */
  | { readonly kind: 'exists'; readonly domain: Domain; readonly changeId: number | undefined };

/** Creates the domain unless its account already has it, so that a list can be run again. */
export async function createUnlessOwn(
  db: Database,
  wanted: NewDomain,
  signing: SigningWishes | undefined,
): Promise<CreatedUnlessOwn> {
  const created = await createDomainSigned(db, wanted, signing);
  if (created.kind !== 'taken' && created.kind !== 'plan_limit') return created;
  const domain = (await findDomains(db, wanted.name)).find((known) => known.accountId === wanted.accountId);
  return domain === undefined ? created : { kind: 'exists', domain, changeId: undefined };
}
