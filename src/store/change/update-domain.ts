// Updates a domain for its owner or the operator: settings, choice of nameservers, suspension.

import type { UpdateObject } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DnsMode, RefusalCode } from '../../zone/domain/domain-status.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import type { Domain } from '../domains/domain.ts';
import { type DomainSettings, SETTING_COLUMNS } from '../domains/domain-settings.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { nameserversOf, provingSets } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { Schema } from '../postgres/tables/schema.ts';
import { announceAfterCommit, inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { applyEvent, type StatusOrder } from './change-status.ts';
import { type DomainLock, isGone, lockDomain, lockDomainAndNames } from './lock-domain.ts';
import { writeDomainChange } from './write-domain-change.ts';

export type DomainUpdate = Partial<DomainSettings> & {
  readonly dnsMode?: DnsMode;
  /** One of the accepted sets assigned to the domain, in any order. */
  readonly nameservers?: readonly Name[];
};

export type UpdatedDomain =
  /** `changeId` is the change made to the status or to what is served, if any. */
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode | 'domain_secondary' | 'not_accepted' | 'taken' | 'plan_limit';
      readonly message: string;
      /** For `plan_limit`. */
      readonly limit?: number;
      /** For `taken`: seconds until a slot among the claims that wait for the name may be free. */
      readonly retryAfterSeconds?: number;
    };

const COPIED_NAMESERVERS = {
  code: 'domain_secondary',
  message: 'the NS records of the domain are copied from its primary, so its nameservers cannot be chosen',
} as const;

/** Saves all parts, or nothing if one is refused. */
export async function updateDomain(
  db: Database,
  order: StatusOrder & {
    readonly domainId: number;
    /** See `saveEdit`. */
    readonly ownerId?: number;
    readonly set: DomainUpdate;
  },
): Promise<UpdatedDomain> {
  return await inTransaction<UpdatedDomain>(db, async (trx) => {
    const { domainId, set } = order;
    const { dnsMode, nameservers, ...settings } = set;
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const { status } = lock.row;
    if (status === 'disabled' || status === 'banned') {
      return { kind: 'refused', code: `domain_${status}`, message: `the domain is ${status}` };
    }
    await saveSettings(trx, lock, settings);
    let nameserversDiffer = false;
    if (nameservers !== undefined) {
      if (lock.row.isCopy) rollBackTo({ kind: 'refused', ...COPIED_NAMESERVERS } satisfies UpdatedDomain);
      const accepted = findSet(nameservers, provingSets(lock.row, lock.settings));
      if (accepted === undefined) {
        rollBackTo({
          kind: 'refused',
          code: 'not_accepted',
          message: 'these are not the nameservers of an accepted set',
        } satisfies UpdatedDomain);
      }
      nameserversDiffer = await chooseNameservers(trx, lock, accepted);
    }
    let changeId: number | undefined;
    if (dnsMode !== undefined) {
      const event = dnsMode === 'managed' ? 'use_managed' : 'use_external';
      const applied = await applyEvent(trx, lock, event, order);
      if (applied.kind === 'refused') rollBackTo(applied);
      changeId = applied.changeId;
    }
    if (nameserversDiffer) changeId ??= await publishNameservers(trx, domainId, order);
    return await updated(trx, domainId, changeId);
  });
}

async function saveSettings(
  trx: Database,
  { row, now }: DomainLock,
  settings: Partial<DomainSettings>,
): Promise<void> {
  const columns = Object.fromEntries(
    Object.entries(settings)
      .filter(([key, value]) => value !== undefined && key in SETTING_COLUMNS)
      .map(([key, value]) => [SETTING_COLUMNS[key as keyof DomainSettings], value]),
  );
  if (Object.keys(columns).length === 0) return;
  await setColumns(trx, row.id, { ...columns, updated_at: now });
  announceAfterCommit(trx); // for edges
}

/** Saves the choice, even while the parent's delegation takes precedence. Returns true if what is published changes. */
async function chooseNameservers(
  trx: Database,
  { row, settings, now }: DomainLock,
  chosen: readonly Name[],
): Promise<boolean> {
  const chosenNs = chosen.map(encodeNameColumn);
  await setColumns(trx, row.id, { chosen_ns: chosenNs, updated_at: now });
  return nameserversOf({ ...row, chosenNs }, settings).join() !== nameserversOf(row, settings).join();
}

async function publishNameservers(
  trx: Database,
  domainId: number,
  { by, source }: ChangedBy,
): Promise<number> {
  const lock = (await lockDomain(trx, domainId)) as DomainLock;
  const { served } = lock.row;
  const order = { by, source, operation: 'nameservers', served, publish: 'whole' } as const;
  return (await writeDomainChange(trx, lock, order)).changeId;
}

const IN_DEBT =
  'the domain is suspended because the wallet that pays for it is below zero: it resumes automatically when the balance is zero or above';

/**
 * Suspends or resumes a domain for an operator. Its DNS stays the same. Suspending again keeps the first time. A
 * suspension for debt ends only when the debt is paid.
 */
export async function setSuspended(
  db: Database,
  { domainId, suspended }: { readonly domainId: number; readonly suspended: boolean },
): Promise<UpdatedDomain> {
  return await inTransaction<UpdatedDomain>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const { row, now } = lock;
    const isByHand = row.suspendedByHandAt !== null;
    if (!suspended && !isByHand && row.suspendedByDebtAt !== null) {
      return { kind: 'refused', code: 'wrong_state', message: IN_DEBT };
    }
    if (suspended !== isByHand) {
      await setColumns(trx, domainId, { suspended_at: suspended ? now : null, updated_at: now });
      announceAfterCommit(trx); // for edges
    }
    return await updated(trx, domainId);
  });
}

async function setColumns(
  trx: Database,
  domainId: number,
  columns: UpdateObject<Schema, 'domains'>,
): Promise<void> {
  await trx.updateTable('domains').set(columns).where('id', '=', domainId).execute();
}

async function updated(trx: Database, domainId: number, changeId?: number): Promise<UpdatedDomain> {
  return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
}
