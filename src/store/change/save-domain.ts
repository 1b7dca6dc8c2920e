// Creates and deletes domains. Claims are decided under the lock of the names around the domain.

import { sql } from 'kysely';
import { answeredDomain } from '../../checks/claims/answered.ts';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import { type Name, parentOf } from '../../dns/name.ts';
import type { DnsMode, Served } from '../../zone/domain/domain-status.ts';
import { loadUnlimitedRoom, lockAccount, refuseClaim } from '../accounts/account-limits.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { findPlan, unknownPlan } from '../accounts/plans.ts';
import { loadStartOfPlan, pauseSubscription, startSubscription } from '../accounts/subscriptions.ts';
import { loadClaimPast, setsForClaim } from '../claims/claim-sets.ts';
import { endRights, saveNameHolder } from '../claims/name-rights.ts';
import { sweepName } from '../claims/swept-names.ts';
import type { Domain } from '../domains/domain.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { lockPublishSettings } from '../postgres/answer-settings.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip } from '../postgres/pool-driver.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { releaseName } from '../zones/write-zone.ts';
import { claimName, hasDomainsAround, loadClaimed } from './claim-name.ts';
import { insertParts, setParts } from './domain-parts.ts';
import { type DomainLock, isGone, lockDomain, lockDomainAndNames, lockNamesAround } from './lock-domain.ts';
import { openBackgroundScan } from './open-scan.ts';
import { saveServed, settleAbove, settleBelow } from './save-status.ts';
import { BEFORE_FIRST_SERIAL, settleName } from './settle-name.ts';
import { NOT_CHECKED, NOT_VERIFIED, type Start, startParts } from './start-status.ts';
import { writeDomainChange } from './write-domain-change.ts';
import { loseClaim, writeOther, writeStatus } from './write-status.ts';

interface Trial {
  readonly planSlug: string;
  readonly days: number;
}

export interface NewDomain extends ChangedBy {
  readonly accountId: number;
  /** The result of `parseDomainName`, accepted by `judgeDomainName`. */
  readonly name: Name;
  readonly unicode: string;
  readonly dnsMode: DnsMode;
  /**
   * True for the CLI and global admins: they may take names around operator zones and nameservers, their domains do not
   * use up a set, and the account's limits do not apply.
   */
  readonly exempt: boolean;
  /** True if an operator confirms the owner: the first of the fleet's sets that the parent shows proves the domain. */
  readonly isApproved?: boolean;
  /** The claim may wait for a name that another account holds. */
  readonly transfer?: boolean;
  /** Maximum number of unverified domains of the account. Defaults to the plan's limit. */
  readonly claimsPerAccount?: number | undefined;
  /** Defaults to the account's plan. */
  readonly planSlug?: string | null;
  /** The trial with which the first domain of a self-registered account starts. */
  readonly trial?: Trial | undefined;
  /** False if the delegation is not checked, because the domain can have none. */
  readonly isChecked?: boolean;
  /** For a managed domain: its records at other providers are scanned in the background and imported. */
  readonly isScanned?: boolean;
}

export type CreatedDomain =
  | { readonly kind: 'created'; readonly domain: Domain; readonly changeId: number }
  | { readonly kind: 'taken' | 'no_account' | 'unknown_plan'; readonly message: string }
  | { readonly kind: 'plan_limit'; readonly limit: number; readonly message: string }
  | { readonly kind: 'full'; readonly message: string; readonly retryAfterSeconds: number };

export async function createDomain(db: Database, wanted: NewDomain): Promise<CreatedDomain> {
  return await inTransaction<CreatedDomain>(db, async (trx) => {
    const { accountId, planSlug, dnsMode, by, source, exempt } = wanted;
    const nameText = encodeNameColumn(wanted.name);
    const trip = inOneTrip(trx);
    const claimant = { nameText, accountId, exempt };
    // The locks come first, in the order of all writers (lock-domain.ts).
    const [account, , settings, clocks, claims, past, hasAround] = await Promise.all([
      (exempt ? loadUnlimitedRoom : lockAccount)(trip, accountId),
      lockNamesAround(trip, nameText),
      lockPublishSettings(trip),
      loadClocks(trip, nameText, accountId),
      loadClaimed(trip, claimant),
      loadClaimPast(trip, claimant),
      hasDomainsAround(trip, nameText),
    ]);
    if (account === undefined) return { kind: 'no_account', message: `there is no account ${accountId}` };
    if (account.domains >= account.limit) {
      const { limit } = account;
      return { kind: 'plan_limit', limit, message: `the plan allows ${limit} domains` };
    }
    const noRoom = exempt ? undefined : refuseClaim(account, wanted.claimsPerAccount);
    if (noRoom !== undefined) return { kind: 'plan_limit', ...noRoom };
    const trial = account.mayTry && planSlug === undefined ? wanted.trial : undefined;
    const slug = trial?.planSlug ?? planSlug;
    const planId = slug === undefined ? account.planId : await findPlan(trx, slug);
    if (planId === undefined) return { kind: 'unknown_plan', message: unknownPlan(slug) };
    const { transfer = false } = wanted;
    const claimed = await claimName(trx, { ...claimant, needsPlace: !exempt, transfer, settings }, claims);
    if (claimed.kind !== 'claimed') rollBackTo(claimed);
    if (claimed.displaced !== undefined)
      await loseClaim(trx, claimed.displaced, { finding: FINDINGS.CLAIM_DISPLACED() });
    // Static sets are only for claims that a delegation must prove.
    const needsSets = dnsMode === 'managed' || settings.pool !== undefined;
    const claim = { nameText, accountId, byOperator: exempt, settings };
    const nsSets = needsSets ? await setsForClaim(trx, claim, past) : null;
    // The usual case: nothing to settle but this domain, which gets the zone of its name.
    const isAlone =
      dnsMode === 'managed' && claims.rows.length === 0 && past.sightings.length === 0 && !hasAround;
    const [{ id, zoneId }, start] = await Promise.all([
      insertDomain(trip, {
        ...wanted,
        nameText,
        nsSets,
        clocks,
        planId,
        ...(isAlone && { zoneSerial: claimed.serial ?? BEFORE_FIRST_SERIAL }),
      }),
      planId === null ? undefined : loadStartOfPlan(trip, { planId }),
    ]);
    if (planId !== null) {
      const trialDays = trial && { trialDays: trial.days };
      await startSubscription(trx, { domainId: id, accountId, planId, ...trialDays }, start);
    }
    if (trial !== undefined) await noteTrial(trx, accountId);
    const nameservers = nsSets?.[0]?.names.length ?? settings.nameserverSets[0]?.length ?? 0;
    const ahead = isAlone ? { names: [], ids: nameservers } : undefined;
    const lock = (await lockDomain(trx, id, ahead)) as DomainLock;
    const change = { by, source, operation: 'create' } as const;
    const { changeId } = await (zoneId === null
      ? saveServed(trx, undefined, lock, change)
      : writeStatus(trx, undefined, lock, servedAlone(lock.row, wanted), { ...change, isNew: true }));
    if (wanted.isScanned === true && dnsMode === 'managed') await openBackgroundScan(trx, id, by);
    return { kind: 'created', changeId, domain: (await loadDomainById(trx, id)) as Domain };
  });
}

/** Returns what nodes serve of a new domain if no other domain has its name, or a name above or below it. */
function servedAlone({ id, accountId }: DomainRow, { exempt, isApproved = false }: NewDomain): Served {
  const one = { id, accountId, stage: 'waiting', open: exempt, othersSighted: false, hasTxt: false } as const;
  const around = { turn: id, enclosing: 'none', sightedRights: [] } as const;
  return answeredDomain([{ ...one, isApproved }], around)?.served ?? 'none';
}

async function noteTrial(trx: Database, accountId: number): Promise<void> {
  await sql`update accounts set trial_at = clock_timestamp() where id = ${accountId}`.execute(trx);
}

async function insertDomain(
  trx: Database,
  {
    accountId,
    name,
    nameText,
    unicode,
    dnsMode,
    exempt,
    nsSets,
    isApproved = false,
    isChecked = true,
    clocks,
    planId,
    zoneSerial,
  }: InsertedDomain,
): Promise<{ readonly id: number; readonly zoneId: number | null }> {
  const { now } = clocks;
  const start = startParts({
    dnsMode,
    nsSets,
    byOperator: exempt,
    approvedAhead: isApproved,
    ...clocks,
  });
  return await insertParts(trx, {
    domain: {
      account_id: accountId,
      name: nameText,
      unicode,
      dns_mode: dnsMode,
      served: 'none',
      // A domain that gets the name's zone later continues its serial (settle-name.ts). The serial of other domains must
      // not reveal that another claim exists.
      serial: zoneSerial ?? BEFORE_FIRST_SERIAL,
      answers_generation: 0,
      plan_id: planId,
      created_at: now,
      updated_at: now,
      deleted_at: null,
      ...start.domain,
    },
    check: { parent: encodeNameColumn(parentOf(name)), ...(isChecked ? start.check : NOT_CHECKED.check) },
    newVerification: start.newVerification,
    hasZone: zoneSerial !== undefined,
  });
}

interface InsertedDomain extends NewDomain {
  readonly nameText: string;
  readonly nsSets: Start['nsSets'];
  readonly clocks: Clocks;
  readonly planId: number | null;
  /** The serial of the name's zone, if the domain gets it. */
  readonly zoneSerial?: number;
}

type Clocks = Pick<Start, 'now' | 'since' | 'firstCheckAt' | 'asksForTurn'>;

/** Starts of an account's claim on a name per hour that are checked immediately. Further ones wait. */
const STARTS_PER_HOUR = 4;
const LATER_MS = 60_000;

/**
 * Loads the times from which a new claim continues. An account that deletes its domain and creates it again within a
 * day keeps the old start, and cannot request another turn within the same hour.
 */
async function loadClocks(trx: Database, nameText: string, accountId: number): Promise<Clocks> {
  const { rows } = await sql<{ now: Date; since: Date | null; hasAsked: boolean; entries: number }>`
    select t.now, min(d.pending_since) filter (where d.deleted_at > t.now - interval '1 day') as since,
      coalesce(bool_or(d.turn_last_asked_at > t.now - interval '1 hour'), false) as "hasAsked",
      (select count(*)::integer from domain_changes c
        where c.domain_id = any(array_agg(d.id)) and c.at > t.now - interval '1 hour'
          and c.status_to in ('pending', 'unverified') and c.status_from is distinct from c.status_to) as entries
    from (select ${TIME} as now) t left join domains d on d.name = ${nameText} and d.account_id = ${accountId}
    group by t.now`.execute(trx);
  const { now, since, hasAsked, entries } = rows[0] as (typeof rows)[0];
  return {
    now,
    ...(since !== null && { since }),
    ...(entries >= STARTS_PER_HOUR && { firstCheckAt: new Date(now.getTime() + LATER_MS) }),
    asksForTurn: !hasAsked,
  };
}

type DeletedDomain =
  | { readonly kind: 'deleted'; readonly changeId: number; readonly serial: number }
  | { readonly kind: 'absent' };

/**
 * Deletes a domain. Its name is free immediately. The operator can restore the domain for 30 days, unless another
 * domain has taken the name.
 */
export async function deleteDomain(
  db: Database,
  {
    domainId,
    ownerId,
    by,
    source,
  }: ChangedBy & {
    readonly domainId: number;
    /** See `saveEdit`. */
    readonly ownerId?: number;
  },
): Promise<DeletedDomain> {
  return await inTransaction<DeletedDomain>(db, async (trx) => {
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || isGone(lock, ownerId === undefined ? {} : { ownerId }))
      return { kind: 'absent' };
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
    const { turn_asked_at: _, ...notChecked } = NOT_CHECKED.domain;
    await setParts(trx, domainId, {
      domain: { ...notChecked, deleted_at: now, zone_id: null },
      check: NOT_CHECKED.check,
      verification: NOT_VERIFIED,
    });
    if (row.zoneId !== null) await releaseName(trx, row.zoneId);
    await pauseSubscription(trx, domainId);
    await endRights(trx, row.name, row.accountId);
    await sweepName(trx, row, now);
    await settleAbove(trx, row.name);
    const settled = await settleName(trx, row.name);
    if (settled.answered !== undefined) await writeOther(trx, settled, settled.answered.id);
    await settleBelow(trx, row.name);
    return { kind: 'deleted', ...written };
  });
}
