// Changes a domain's status for people and for the checker: a compare-and-set under the domain's lock, saved as one
// change that also updates what nodes serve.

import { FINDINGS } from '../../checks/delegation/findings.ts';
import type { DomainState, DomainStatus, RefusalCode, StatusEvent } from '../../zone/domain/domain-status.ts';
import { nextState } from '../../zone/domain/domain-status.ts';
import { type AccountRoom, lockAccount, refuseClaim } from '../accounts/account-limits.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { setsForClaim } from '../claims/claim-sets.ts';
import { endRights, saveNameHolder } from '../claims/name-rights.ts';
import { sweepName } from '../claims/swept-names.ts';
import type { Domain } from '../domains/domain.ts';
import { findingsWithout } from '../domains/domain-row.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { claimName } from './claim-name.ts';
import type { DomainParts } from './domain-parts.ts';
import { type DomainLock, isGone, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';
import { offParts, startParts } from './start-status.ts';
import { loseClaim } from './write-status.ts';

interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode | 'taken' | 'plan_limit';
  readonly message: string;
  /** For `plan_limit`. */
  readonly limit?: number;
  /** Seconds until a slot among the claims that wait for the name may be free. */
  readonly retryAfterSeconds?: number;
}

type ChangedStatus =
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  | Refusal;

export interface StatusOrder extends ChangedBy {
  /** True for the CLI and global admins: domains that they enable do not use up a set. */
  readonly exempt?: boolean;
  /** A domain that is enabled may wait for a name that another account holds. */
  readonly transfer?: boolean;
}

/** If `expected` is set and the status is different, the change is refused with `wrong_state`. */
export async function changeStatus(
  db: Database,
  order: StatusOrder & {
    readonly domainId: number;
    /** See `saveEdit`. */
    readonly ownerId?: number;
    readonly event: StatusEvent;
    readonly expected?: DomainStatus;
    /** As for a new domain. Only `enable` uses it. */
    readonly claimsPerAccount?: number | undefined;
  },
): Promise<ChangedStatus> {
  return await inTransaction<ChangedStatus>(db, async (trx) => {
    const { domainId, event, expected, exempt = false } = order;
    const account = event === 'enable' && !exempt ? await lockAccountOf(trx, domainId) : undefined;
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const { status } = lock.row;
    if (expected !== undefined && status !== expected) {
      return { kind: 'refused', code: 'wrong_state', message: `the domain is ${status} now` };
    }
    const noRoom =
      account === undefined || status !== 'disabled'
        ? undefined
        : refuseClaim(account, order.claimsPerAccount);
    if (noRoom !== undefined) return { kind: 'refused', code: 'plan_limit', ...noRoom };
    const applied = await applyEvent(trx, lock, event, order);
    if (applied.kind === 'refused') rollBackTo(applied);
    const { changeId } = applied;
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

/** Locks the account before the names, as a create does. */
async function lockAccountOf(trx: Database, domainId: number): Promise<AccountRoom | undefined> {
  const found = await trx
    .selectFrom('domains')
    .select('account_id')
    .where('id', '=', domainId)
    .executeTakeFirst();
  return found && (await lockAccount(trx, found.account_id));
}

type Applied = { readonly kind: 'applied'; readonly changeId: number | undefined } | Refusal;

/**
 * Call it under `lockDomainAndNames`. After a refusal the caller must roll back. Nameservers that were chosen
 * after the lock was taken become part of the change.
 */
export async function applyEvent(
  trx: Database,
  lock: DomainLock,
  event: StatusEvent,
  { by, exempt = false, transfer = false }: StatusOrder,
): Promise<Applied> {
  const { row, now } = lock;
  const move = nextState(row, event);
  if (move.kind === 'refused') return move;
  if (move.kind === 'unchanged') return { kind: 'applied', changeId: undefined };
  const { to } = move;
  await saveNameHolder(trx, row, now);
  const parts = await partsAfter(trx, lock, event, { to, exempt, transfer });
  if ('kind' in parts) return parts;
  const domain = { ...parts.domain, dns_mode: to.dnsMode };
  const { changeId } = await saveStatus(
    trx,
    lock,
    { ...parts, domain },
    { by, source: 'status', operation: 'status' },
  );
  if (isOff(to.status)) {
    await endRights(trx, row.name, row.accountId);
    await sweepName(trx, row, now);
  }
  return { kind: 'applied', changeId };
}

function isOff(status: DomainStatus): status is 'disabled' | 'banned' {
  return status === 'disabled' || status === 'banned';
}

async function partsAfter(
  trx: Database,
  { row, settings, now }: DomainLock,
  event: StatusEvent,
  {
    to,
    exempt,
    transfer,
  }: { readonly to: DomainState; readonly exempt: boolean; readonly transfer: boolean },
): Promise<DomainParts | Refusal> {
  const { status, dnsMode } = to;
  if (isOff(status)) {
    const off = offParts(status, 'operator', now);
    const isName = status === 'banned' && (row.leaving || row.status === 'active' || row.status === 'moved');
    return {
      ...off,
      domain: {
        ...off.domain,
        findings: findingsWithout('PRESET_DELEGATION'),
        banned_name: isName || row.bannedName,
      },
    };
  }
  const { name: nameText, accountId, id: domainId } = row;
  if (isOff(row.status)) {
    const claimed = await claimName(trx, {
      nameText,
      accountId,
      exempt: true,
      needsPlace: !exempt,
      transfer,
      domainId,
      settings,
    });
    if (claimed.kind !== 'claimed') return { ...claimed, kind: 'refused', code: 'taken' };
    if (claimed.displaced !== undefined)
      await loseClaim(trx, claimed.displaced, { finding: FINDINGS.CLAIM_DISPLACED() });
  }
  const claim = { nameText, accountId, byOperator: exempt, settings };
  const nsSets = dnsMode === 'managed' ? await setsForClaim(trx, claim) : row.nsSets;
  const start = startParts({ dnsMode, nsSets, byOperator: exempt, now });
  // Changing the mode keeps the claim.
  if (event === 'use_managed') return start;
  if (event !== 'use_external') return { ...start, check: { ...start.check, ours_at: null } };
  // Resolvers that still query the fleet get the same answers until the parent no longer delegates to it. A claim that
  // was never proved has no such resolvers, and its whole zone must not be answered.
  if (row.status !== 'active' && row.status !== 'moved') return start;
  return {
    ...start,
    domain: { ...start.domain, leaving: true, leaving_since: now },
    check: { ...start.check, due_at: now },
  };
}
