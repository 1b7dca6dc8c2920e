// Changes a domain's status, for people and for the checker: a compare-and-set under the domain's lock, as one change.
// What nodes serve follows from it.

import type { DomainState, DomainStatus, RefusalCode, StatusEvent } from '../../zone/domain/domain-status.ts';
import { nextState } from '../../zone/domain/domain-status.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import type { Domain } from '../domains/domain.ts';
import { findingsWithout } from '../domains/findings-column.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { presetAtEntry, saveNameHolder } from '../domains/name-holders.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { claimName } from './claim-name.ts';
import type { DomainParts } from './domain-parts.ts';
import { type DomainLock, lockDomainAndNames } from './lock-domain.ts';
import { saveStatus } from './save-status.ts';
import { offParts, startParts } from './start-status.ts';

type ChangedStatus =
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'taken'; readonly message: string };

export interface StatusOrder extends ChangedBy {
  /** True for the CLI and global admins: a preset delegation does not hold up the domains that they bring back. */
  readonly exempt?: boolean;
}

/** `expected`: the change is refused with `wrong_state` when the status is no longer this one. */
export async function changeStatus(
  db: Database,
  order: StatusOrder & {
    readonly domainId: number;
    readonly event: StatusEvent;
    readonly expected?: DomainStatus;
  },
): Promise<ChangedStatus> {
  return await inTransaction<ChangedStatus>(db, async (trx) => {
    const { domainId, event, expected } = order;
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const { status } = lock.row;
    if (expected !== undefined && status !== expected) {
      return { kind: 'refused', code: 'wrong_state', message: `the domain is ${status} by now` };
    }
    const applied = await applyEvent(trx, lock, event, order);
    if (applied.kind === 'refused') rollBackTo(applied);
    const { changeId } = applied;
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

type Applied =
  | { readonly kind: 'applied'; readonly changeId: number | undefined }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'taken'; readonly message: string };

/**
 * Call it under `lockDomainAndNames`. After a refusal the caller rolls back. If the owner chose other nameservers since
 * the lock was taken, they become part of the change.
 */
export async function applyEvent(
  trx: Database,
  lock: DomainLock,
  event: StatusEvent,
  { by, exempt = false }: StatusOrder,
): Promise<Applied> {
  const { row, settings, now } = lock;
  const move = nextState(row, event);
  if (move.kind === 'refused') return move;
  if (move.kind === 'unchanged') return { kind: 'applied', changeId: undefined };
  const { to } = move;
  await saveNameHolder(trx, row, now);
  let { zoneId, serial } = row;
  if (!isOff(to.status) && zoneId === null) {
    const { name: nameText, accountId } = row;
    const claimed = await claimName(trx, { nameText, accountId, exempt: true, isNew: false, settings });
    if (claimed.kind === 'taken') return { ...claimed, kind: 'refused', code: 'taken' };
    zoneId = claimed.zone.id;
    serial = claimed.serial ?? serial;
  }
  const parts = await partsAfter(trx, lock, event, { to, exempt });
  const domain = { ...parts.domain, dns_mode: to.dnsMode, zone_id: zoneId, serial };
  const { changeId } = await saveStatus(
    trx,
    lock,
    { ...parts, domain },
    {
      by,
      source: 'status',
      operation: 'status',
    },
  );
  return { kind: 'applied', changeId };
}

function isOff(status: DomainStatus): status is 'disabled' | 'banned' {
  return status === 'disabled' || status === 'banned';
}

async function partsAfter(
  trx: Database,
  { row, settings, now }: DomainLock,
  event: StatusEvent,
  { to, exempt }: { readonly to: DomainState; readonly exempt: boolean },
): Promise<DomainParts> {
  const { status, dnsMode } = to;
  if (isOff(status)) {
    const off = offParts(status, 'operator');
    return { ...off, domain: { ...off.domain, findings: findingsWithout('PRESET_DELEGATION') } };
  }
  const { name: nameText, accountId } = row;
  const preset = await presetAtEntry(trx, { nameText, dnsMode, accountId, exempt, settings });
  const start = startParts({ dnsMode, preset, now });
  // Another mode is the same claim.
  if (event === 'use_managed') return start;
  if (event !== 'use_external') return { ...start, check: { ...start.check, ours_at: null } };
  if (row.served === 'none') return start;
  // Resolvers that still ask us are answered as before until the parent shows that none does.
  return {
    ...start,
    domain: {
      ...start.domain,
      leaving: true,
      leaving_since: now,
      preset: row.preset,
      preset_taken: JSON.stringify(row.presetTaken),
    },
    check: { ...start.check, due_at: now },
  };
}
