// Saves an operator's confirmation that the owner of a domain has delegated it. The set that the parent shows proves
// the domain; if the parent shows none of the fleet's sets yet, the first one that it shows will. The domain may be
// answered completely before that. Only a check, which is due immediately, makes it active.

import { sql } from 'kysely';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import type { Name } from '../../dns/name.ts';
import { combinationIn } from '../../zone/pool/combinations.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { loadRights, sortedNames, takeRight } from '../claims/name-rights.ts';
import type { Domain } from '../domains/domain.ts';
import { findingsWith, findingsWithout } from '../domains/domain-row.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { provingSets } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { setParts } from './domain-parts.ts';
import { type DomainLock, lockDomain, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';
import { STATUS_BY_SYSTEM } from './write-status.ts';

export type ApprovedDomain =
  /** `changeId` is undefined if there was nothing to approve. */
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code: /** Another account has the right to the set, or an approved domain of the name. */
        | 'right_taken'
        /** The names are not one complete set of this fleet's nameservers. */
        | 'not_ours'
        /** No delegation can prove the domain, or the parent showed no set of this fleet. */
        | 'nothing_to_approve';
      readonly message: string;
    };

interface ApprovalOrder extends ChangedBy {
  readonly domainId: number;
  /** The set that will prove the domain. Defaults to the one that the parent showed last, or will show first. */
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
    const isOurs = isSetOfOurs(set, lock);
    if (order.set !== undefined && !isOurs)
      rollBackTo({
        kind: 'refused',
        code: 'not_ours',
        message:
          'these names are not a complete set of this fleet: give all names of a set, or one name of each list of the pool',
      });
    if (lock.row.dnsMode !== 'managed' || lock.row.status === 'disabled' || lock.row.status === 'banned')
      rollBackTo({
        kind: 'refused',
        code: 'nothing_to_approve',
        message: `no delegation proves this domain: it is ${lock.row.dnsMode === 'managed' ? lock.row.status : 'in external mode'}`,
      });
    const isNew = isOurs && !proves(lock, set);
    const isAhead = !isOurs && lock.row.status === 'pending';
    if (!isOurs && set.length > 0 && lock.row.nsSets?.length === 0)
      rollBackTo({
        kind: 'refused',
        code: 'nothing_to_approve',
        message: 'the newest check saw no set of this fleet at the parent: assign one with reserve-set',
      });
    if (!isNew && isAhead === lock.row.approvedAhead && (lock.row.open || lock.row.status !== 'pending'))
      return {
        kind: 'updated',
        changeId: undefined,
        domain: (await loadDomainById(trx, domainId)) as Domain,
      };
    if (isAhead) await passApproval(trx, lock, take);
    if (isNew) await giveRight(trx, lock, set, take);
    const { changeId } = await saveStatus(trx, lock, partsAfter(lock, isNew ? set : undefined, isAhead), {
      by,
      source,
      operation: 'status',
    });
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

/**
 * Completes an approval that was given before the parent showed a set of this fleet. If another account has the right
 * to that set, it keeps the right, and the domain waits like any other.
 */
export async function approveAsShown(db: Database, domainId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null || lock.row.status !== 'pending') return;
    if (!lock.row.approvedAhead || !isSetOfOurs(await shownSet(trx, lock), lock)) return;
    await setParts(trx, domainId, { domain: { approved_ahead: false } });
    await approveDomain(trx, { ...STATUS_BY_SYSTEM, domainId });
  });
}

/** Returns true if the names are one complete set: one of NAMESERVER_SETS, or one name of each list of the pool. */
function isSetOfOurs(names: readonly string[], { settings }: DomainLock): boolean {
  const set = names.map(decodeNameColumn);
  if (findSet(set, settings.nameserverSets) !== undefined) return true;
  const lists = settings.pool?.lists;
  return lists !== undefined && set.length === lists.length && combinationIn(lists, set) !== undefined;
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
      message:
        'another account has the right to this set for this name: only an approval with "take" (domain approve --take) transfers it',
    });
  }
  await takeRight(trx, name, { names: set, accountId, exclusive: true });
  await takeFromOthers(trx, name, accountId, set);
}

/**
 * Withdraws the approval of other accounts' claims of the name, or refuses if `take` is false. If two claims were
 * approved ahead, neither would be answered completely. A claim that an operator created counts as approved, so that
 * approving the wrong account by mistake does not take its answers.
 */
async function passApproval(trx: Database, { row }: DomainLock, take: boolean): Promise<void> {
  const rivals = await findOperatorsRivals(trx, row);
  if (rivals.length > 0 && !take) rollBackTo(OPERATORS_RIVAL);
  for (const domainId of rivals) {
    await lockDomain(trx, domainId);
    await setParts(trx, domainId, { domain: { approved_ahead: false, by_operator: false } });
  }
}

export const OPERATORS_RIVAL = {
  kind: 'refused',
  code: 'right_taken',
  message:
    'an operator has approved or created this name for another account: only an approval with "take" (domain approve --take) transfers it',
} as const;

/** Returns ids of other accounts' claims of the name that an operator approved or created. Requires the lock of the name. */
export async function findOperatorsRivals(
  trx: Database,
  { name, accountId }: Pick<DomainLock['row'], 'name' | 'accountId'>,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from domains where name = ${name} and account_id <> ${accountId}
      and by_operator and status = 'pending' and deleted_at is null
    order by id`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Takes the set from other accounts' domains of the name, and schedules their checks, so that it no longer proves them. */
async function takeFromOthers(
  trx: Database,
  nameText: string,
  accountId: number,
  set: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from domains where name = ${nameText} and account_id <> ${accountId} and deleted_at is null
    order by id`.execute(trx);
  const key = sortedNames(set).join(' ');
  for (const { id } of rows) {
    const lock = (await lockDomain(trx, id)) as DomainLock;
    const { row, settings, now } = lock;
    if (!proves(lock, set)) continue;
    const left = storedSets(row, settings).filter(({ names }) => sortedNames(names).join(' ') !== key);
    const domain = {
      ns_sets: JSON.stringify(left),
      ...(left.length === 0 && row.status === 'pending' && { findings: findingsWith(FINDINGS.SETS_SPENT()) }),
    };
    const check = row.status === 'pending' ? { due_at: now, next_at: now } : {};
    await saveStatus(trx, lock, { domain, check }, STATUS_BY_SYSTEM);
  }
}

function storedSets(row: DomainLock['row'], settings: DomainLock['settings']): StoredSet[] {
  return provingSets(row, settings).map(
    (names): StoredSet => ({
      names: names.map(encodeNameColumn),
      exclusive:
        row.nsSets?.find((known) => known.names.map(decodeNameColumn).join() === names.join())?.exclusive ??
        false,
    }),
  );
}

/** Returns the columns after the approval. A right that an operator gave does not expire. */
function partsAfter(
  { row, settings, now }: DomainLock,
  set: readonly string[] | undefined,
  isAhead: boolean,
) {
  const before = storedSets(row, settings);
  return {
    domain: {
      open: true,
      by_operator: true,
      approved_ahead: isAhead,
      findings: findingsWithout('PRESET_DELEGATION', 'SETS_SPENT'),
      ...(set !== undefined && { ns_sets: JSON.stringify([{ names: set, exclusive: true }, ...before]) }),
    },
    check: { due_at: now, next_at: now },
  } as const;
}
