// Creates, deletes and restores domains. Who holds a name is decided under the locks of `claimName`: of two creates at
// once exactly one succeeds.

import { sql } from 'kysely';
import { type Name, parentOf } from '../../dns/name.ts';
import type { DnsMode, PresetKind } from '../../zone/domain/domain-status.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { findPlan, startSubscription, stopSubscription } from '../accounts/subscribe.ts';
import { type Domain, RESTORABLE_DAYS } from '../domains/domain.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { presetAtEntry, saveNameHolder } from '../domains/name-holders.ts';
import { lockPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { releaseName } from '../zones/write-zone.ts';
import { type Claimed, claimName } from './claim-name.ts';
import { type DomainParts, insertParts, setParts } from './domain-parts.ts';
import {
  currentTime,
  type DomainLock,
  lockDomain,
  lockDomainAndNames,
  lockNamesAround,
} from './lock-domain.ts';
import { openBackgroundScan } from './open-scan.ts';
import { saveServed, saveStatus } from './save-status.ts';
import { settleEnclosed } from './settle-enclosed.ts';
import { NOT_CHECKED, NOT_VERIFIED, startParts } from './start-status.ts';
import { writeDomainChange } from './write-domain-change.ts';

export interface NewDomain extends ChangedBy {
  readonly accountId: number;
  /** The name comes from `parseDomainName`, and `judgeDomainName` accepts it. */
  readonly name: Name;
  readonly unicode: string;
  readonly dnsMode: DnsMode;
  /**
   * True for the CLI and global admins: they may take names around operator zones and nameservers. Neither a preset
   * delegation nor the limit on an account's domains holds up what they create.
   */
  readonly exempt: boolean;
  /** The plan; by default the account's. */
  readonly planSlug?: string | null;
  /** False: the delegation is not checked, since the domain can have none. */
  readonly isChecked?: boolean;
  /** For a managed domain: its records elsewhere are scanned in the background, and imported. */
  readonly isScanned?: boolean;
}

type CreatedDomain =
  | { readonly kind: 'created'; readonly domain: Domain; readonly changeId: number }
  | { readonly kind: 'taken' | 'no_account' | 'unknown_plan'; readonly message: string }
  | { readonly kind: 'plan_limit'; readonly limit: number; readonly message: string };

export async function createDomain(db: Database, wanted: NewDomain): Promise<CreatedDomain> {
  return await inTransaction<CreatedDomain>(db, async (trx) => {
    const { accountId, planSlug, dnsMode, by, source, exempt } = wanted;
    const nameText = encodeNameColumn(wanted.name);
    const account = await lockAccount(trx, accountId);
    if (account === undefined) return { kind: 'no_account', message: `there is no account ${accountId}` };
    if (!exempt && account.domains >= account.limit) {
      const { limit } = account;
      return { kind: 'plan_limit', limit, message: `the plan allows ${limit} domains` };
    }
    const planId = planSlug === undefined ? account.planId : await findPlan(trx, planSlug);
    if (planId === undefined) return { kind: 'unknown_plan', message: `there is no plan "${planSlug}"` };
    await lockNamesAround(trx, nameText);
    const settings = await lockPublishSettings(trx);
    const claimed = await claimName(trx, { nameText, accountId, exempt, isNew: true, settings });
    if (claimed.kind === 'taken') rollBackTo(claimed);
    const preset = await presetAtEntry(trx, { nameText, dnsMode, accountId, exempt, settings });
    const id = await insertDomain(trx, { ...wanted, nameText, preset }, claimed, planId);
    if (planId !== null) await startSubscription(trx, id, accountId, planId);
    const lock = (await lockDomain(trx, id)) as DomainLock;
    const { changeId } = await saveServed(trx, undefined, lock, { by, source, operation: 'create' });
    if (wanted.isScanned === true && dnsMode === 'managed') await openBackgroundScan(trx, id, by);
    return { kind: 'created', changeId, domain: (await loadDomainById(trx, id)) as Domain };
  });
}

/** The limit of an account without a plan: an operator who takes the plan away does not lift the limit. */
const DOMAINS_WITHOUT_PLAN = 100;

/**
 * Locks the account until the transaction ends, so that two creates at once do not pass its limit. The holder of the
 * lock waits for names after it, and no transaction waits in the other order.
 */
async function lockAccount(trx: Database, accountId: number) {
  const { rows } = await sql<{ planId: number | null; maxDomains: number | null }>`
    select a.plan_id as "planId", p.max_domains as "maxDomains"
    from accounts a left join plans p on p.id = a.plan_id
    where a.id = ${accountId} for no key update of a`.execute(trx);
  const [row] = rows;
  if (row === undefined) return undefined;
  // A statement of its own: it sees what the holder of the lock before us has saved.
  const counted = await sql<{ domains: number }>`
    select count(*)::integer as domains from domains
    where account_id = ${accountId} and deleted_at is null`.execute(trx);
  const limit = row.planId === null ? DOMAINS_WITHOUT_PLAN : (row.maxDomains ?? Number.POSITIVE_INFINITY);
  return { planId: row.planId, limit, domains: counted.rows[0]?.domains ?? 0 };
}

const BEFORE_FIRST_SERIAL = 0xffff_ffff;

async function insertDomain(
  trx: Database,
  {
    accountId,
    name,
    nameText,
    unicode,
    dnsMode,
    preset,
    isChecked = true,
  }: NewDomain & { readonly nameText: string; readonly preset: PresetKind },
  { zone, serial = BEFORE_FIRST_SERIAL }: Extract<Claimed, { kind: 'claimed' }>,
  planId: number | null,
): Promise<number> {
  const now = await currentTime(trx);
  const start = startParts({ dnsMode, preset, now });
  return await insertParts(trx, {
    domain: {
      account_id: accountId,
      name: nameText,
      unicode,
      zone_id: zone.id,
      dns_mode: dnsMode,
      served: 'none',
      serial,
      answers_generation: 0,
      plan_id: planId,
      created_at: now,
      updated_at: now,
      deleted_at: null,
      ...start.domain,
    },
    check: { parent: encodeNameColumn(parentOf(name)), ...(isChecked ? start.check : NOT_CHECKED.check) },
    newVerification: start.newVerification,
  });
}

type DeletedDomain =
  | { readonly kind: 'deleted'; readonly changeId: number; readonly serial: number }
  | { readonly kind: 'absent' };

/**
 * Deletes a domain. Its name is free at once; the operator can restore it for 30 days, unless another domain has the
 * name then.
 */
export async function deleteDomain(
  db: Database,
  { domainId, by, source }: ChangedBy & { readonly domainId: number },
): Promise<DeletedDomain> {
  return await inTransaction<DeletedDomain>(db, async (trx) => {
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const { row, now } = lock;
    await saveNameHolder(trx, row, now);
    const written = await writeDomainChange(trx, lock, {
      by,
      source,
      operation: 'delete',
      status: { from: row.status, to: null },
      served: 'none',
      publish: new Map(),
    });
    await setParts(trx, domainId, {
      domain: { ...NOT_CHECKED.domain, deleted_at: now, zone_id: null },
      check: NOT_CHECKED.check,
      verification: NOT_VERIFIED,
    });
    if (row.zoneId !== null) await releaseName(trx, row.zoneId);
    await stopSubscription(trx, domainId);
    await settleEnclosed(trx, row.name);
    return { kind: 'deleted', ...written };
  });
}

type RestoredDomain =
  | { readonly kind: 'restored'; readonly domain: Domain; readonly changeId: number }
  | { readonly kind: 'absent' | 'not_deleted' | 'taken'; readonly message: string };

/**
 * Restores a domain as it was, except for its status: whether it is delegated to us is checked anew. `exempt`: as for a
 * new one.
 */
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
    const { accountId, dnsMode, name: nameText } = row;
    const claimed = await claimName(trx, { nameText, accountId, exempt: true, isNew: false, settings });
    if (claimed.kind === 'taken') rollBackTo(claimed);
    const preset = await presetAtEntry(trx, { nameText, dnsMode, accountId, exempt, settings });
    const wasOff = row.status === 'disabled' || row.status === 'banned';
    if (row.plan !== null) await startSubscription(trx, domainId, accountId, row.plan.id);
    const start: DomainParts = wasOff ? {} : startParts({ dnsMode, preset, now });
    const parts: DomainParts = {
      ...start,
      domain: {
        ...start.domain,
        deleted_at: null,
        zone_id: claimed.zone.id,
        serial: claimed.serial ?? row.serial,
      },
      ...(!wasOff && { check: { ...start.check, ours_at: null } }),
    };
    const { changeId } = await saveStatus(trx, found, parts, { by, source, operation: 'restore' });
    return { kind: 'restored', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}
