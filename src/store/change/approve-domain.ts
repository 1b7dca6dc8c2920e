// The operator confirms that the owner of the domain here is the one who delegated it: the set that the parent shows now proves the
// domain, and before proof it may be answered whole. Whether it is active, only a check decides, which is due at once.

import type { Name } from '../../dns/name.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { loadRights, sortedNames, takeRight } from '../claims/rights.ts';
import { type Domain, provingSets } from '../domains/domain.ts';
import { findingsWithout } from '../domains/findings-column.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { allOurNameservers } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { StoredSet } from '../postgres/schema.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { type DomainLock, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';

type ApprovedDomain =
  /** Without `changeId` there was nothing to approve. */
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  /** Another account has a live right to the set. */
  | { readonly kind: 'refused'; readonly code: 'right_taken' | 'not_ours'; readonly message: string };

interface ApprovalOrder extends ChangedBy {
  readonly domainId: number;
  /** Gives the right to this set; by default to what the parent showed last. */
  readonly set?: readonly Name[];
  /** Takes the right from the account that has it. */
  readonly take?: boolean;
}

export async function approveDomain(db: Database, order: ApprovalOrder): Promise<ApprovedDomain> {
  return await inTransaction<ApprovedDomain>(db, async (trx) => {
    const { domainId, by, source, take = false } = order;
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const set = order.set?.map(encodeNameColumn) ?? (await shownSet(trx, lock));
    const ours = new Set(allOurNameservers(lock.settings).map(encodeNameColumn));
    const isOurs = set.length > 0 && set.every((name) => ours.has(name));
    if (order.set !== undefined && !isOurs)
      rollBackTo({ kind: 'refused', code: 'not_ours', message: 'these are not all nameservers of ours' });
    const isNew = isOurs && !proves(lock, set);
    if (!isNew && (lock.row.open || lock.row.status !== 'pending'))
      return {
        kind: 'updated',
        changeId: undefined,
        domain: (await loadDomainById(trx, domainId)) as Domain,
      };
    if (isNew) await giveRight(trx, lock, set, take);
    const { changeId } = await saveStatus(trx, lock, partsAfter(lock, isNew ? set : undefined), {
      by,
      source,
      operation: 'status',
    });
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

async function shownSet(trx: Database, { row }: DomainLock): Promise<readonly string[]> {
  const { current_ns: shown } = await trx
    .selectFrom('domain_checks')
    .select('current_ns')
    .where('domain_id', '=', row.id)
    .executeTakeFirstOrThrow();
  return shown ?? [];
}

function proves({ row, settings }: DomainLock, set: readonly string[]): boolean {
  const key = sortedNames(set).join(' ');
  return provingSets(row, settings).some(
    (names) => sortedNames(names.map(encodeNameColumn)).join(' ') === key,
  );
}

async function giveRight(
  trx: Database,
  { row: { name, accountId } }: DomainLock,
  set: readonly string[],
  take: boolean,
): Promise<void> {
  const key = sortedNames(set).join(' ');
  const held = (await loadRights(trx, name)).find((right) => right.names.join(' ') === key);
  if (held !== undefined && held.accountId !== accountId && !take) {
    rollBackTo({
      kind: 'refused',
      code: 'right_taken',
      message: 'another account has the right to this set for this name; --take takes it away',
    });
  }
  await takeRight(trx, name, { names: set, accountId, exclusive: true });
}

/** A right that an operator gave is spent by nothing. */
function partsAfter({ row, settings, now }: DomainLock, set: readonly string[] | undefined) {
  const before = provingSets(row, settings).map(
    (names): StoredSet => ({
      names: names.map(encodeNameColumn),
      exclusive:
        row.nsSets?.find((known) => known.names.map(decodeNameColumn).join() === names.join())?.exclusive ??
        false,
    }),
  );
  return {
    domain: {
      open: true,
      by_operator: true,
      findings: findingsWithout('PRESET_DELEGATION'),
      ...(set !== undefined && { ns_sets: JSON.stringify([{ names: set, exclusive: true }, ...before]) }),
    },
    check: { due_at: now, next_at: now },
  } as const;
}
