// Creates and deletes domains. Claims are decided under the lock of the names around the domain.

import { type RawBuilder, sql } from 'kysely';
import { answeredDomain } from '../../checks/claims/answered.ts';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import { type Name, parentOf } from '../../dns/name.ts';
import type { DnsMode, Served } from '../../zone/domain/domain-status.ts';
import { timedSerial } from '../../zone/serial.ts';
import { refuseClaim } from '../accounts/account-limits.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { findPlan, unknownPlan } from '../accounts/plans.ts';
import { pauseSubscription, startSubscription, subscriptionWritten } from '../accounts/subscriptions.ts';
import { setsForClaim } from '../claims/claim-sets.ts';
import { endRights, saveNameHolder } from '../claims/name-rights.ts';
import { sweepName } from '../claims/swept-names.ts';
import { decodeNewDomain, type NewCheck } from '../domains/decode-domain.ts';
import type { Domain } from '../domains/domain.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { releaseName } from '../zones/write-zone.ts';
import { claimName } from './claim-name.ts';
import { insertParts, setParts } from './domain-parts.ts';
import { type Creation, loadCreation, lockForCreation } from './load-creation.ts';
import { type DomainLock, isGone, lockDomainAndNames } from './lock-domain.ts';
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
    await lockForCreation(trx, { nameText, accountId, exempt });
    const known = await loadCreation(trx, { ...wanted, nameText });
    const { settings, account, start, clocks, past } = known;
    if (account === undefined) return { kind: 'no_account', message: `there is no account ${accountId}` };
    if (account.domains >= account.limit) {
      const { limit } = account;
      return { kind: 'plan_limit', limit, message: `the plan allows ${limit} domains` };
    }
    const noRoom = exempt ? undefined : refuseClaim(account);
    if (noRoom !== undefined) return { kind: 'plan_limit', ...noRoom };
    const trial = account.mayTry && planSlug === undefined ? wanted.trial : undefined;
    const slug = trial?.planSlug ?? planSlug;
    const planId = slug === undefined ? account.planId : await findPlan(trx, slug);
    if (planId === undefined) return { kind: 'unknown_plan', message: unknownPlan(slug) };
    const { transfer = false } = wanted;
    const claiming = { nameText, accountId, exempt, needsPlace: !exempt, transfer, settings };
    const claimed = await claimName(trx, claiming, known.claimed);
    if (claimed.kind !== 'claimed') rollBackTo(claimed);
    if (claimed.displaced !== undefined)
      await loseClaim(trx, claimed.displaced, { finding: FINDINGS.CLAIM_DISPLACED() });
    // Static sets are only for claims that a delegation must prove.
    const needsSets = dnsMode === 'managed' || settings.pool !== undefined;
    const claim = { nameText, accountId, byOperator: exempt, settings };
    const nsSets = needsSets ? await setsForClaim(trx, claim, past) : null;
    // The usual case: nothing to settle but this domain, which gets the zone of its name.
    const isAlone =
      dnsMode === 'managed' &&
      known.claimed.rivals.length === 0 &&
      past.sightings.length === 0 &&
      !known.hasAround;
    const { lock, check } = await insertDomain(trx, known, {
      ...wanted,
      nameText,
      nsSets,
      planId,
      before: claimed.serial ?? BEFORE_FIRST_SERIAL,
      isAlone,
    });
    const { id } = lock.row;
    const isNew = lock.zone !== undefined;
    const also: RawBuilder<unknown>[] = [];
    if (planId !== null && isNew && slug === undefined && start !== undefined) {
      also.push(subscriptionWritten({ domainId: id, accountId, planId }, { now: clocks.now, ...start }));
    } else if (planId !== null) {
      const trialDays = trial && { trialDays: trial.days };
      await startSubscription(trx, { domainId: id, accountId, planId, ...trialDays });
    }
    if (trial !== undefined) await noteTrial(trx, accountId);
    const change = { by, source, operation: 'create' } as const;
    const { changeId } = await (isNew
      ? writeStatus(trx, undefined, lock, lock.row.served, { ...change, isNew, also })
      : saveServed(trx, undefined, lock, change));
    if (wanted.isScanned === true && dnsMode === 'managed') await openBackgroundScan(trx, id, by);
    const domain = isNew
      ? decodeNewDomain(lock.row, settings, check)
      : ((await loadDomainById(trx, id)) as Domain);
    return { kind: 'created', changeId, domain };
  });
}

/** Returns what nodes serve of a new domain if no other domain has its name, or a name above or below it. */
function servedAlone({ accountId, exempt, isApproved = false }: NewDomain): Served {
  const id = 0;
  const one = { id, accountId, stage: 'waiting', open: exempt, othersSighted: false, hasTxt: false } as const;
  const around = { turn: id, enclosing: 'none', sightedRights: [] } as const;
  return answeredDomain([{ ...one, isApproved }], around)?.served ?? 'none';
}

async function noteTrial(trx: Database, accountId: number): Promise<void> {
  await sendWithNext(trx, sql`update accounts set trial_at = clock_timestamp() where id = ${accountId}`);
}

interface InsertedDomain extends NewDomain {
  readonly nameText: string;
  readonly nsSets: Start['nsSets'];
  readonly planId: number | null;
  /** The serial of the name's zone before the domain gets it. */
  readonly before: number;
  /** True if no other domain has the name, or a name above or below it. */
  readonly isAlone: boolean;
}

/** The lock has a zone if the domain is inserted as it will be published. */
async function insertDomain(
  trx: Database,
  { clocks, settings }: Pick<Creation, 'clocks' | 'settings'>,
  wanted: InsertedDomain,
): Promise<{ readonly lock: DomainLock; readonly check: NewCheck }> {
  const { accountId, name, nameText, unicode, dnsMode, exempt, nsSets, planId, before, isAlone } = wanted;
  const { isApproved = false, isChecked = true } = wanted;
  const { now } = clocks;
  const start = startParts({ dnsMode, nsSets, byOperator: exempt, approvedAhead: isApproved, ...clocks });
  const check = isChecked ? start.check : NOT_CHECKED.check;
  const answered = isAlone
    ? {
        served: servedAlone(wanted),
        serial: timedSerial(before, now),
        answers_generation: settings.generation,
      }
    : undefined;
  // A domain that gets the name's zone later continues its serial (settle-name.ts). The serial of other domains must
  // not reveal that another claim exists.
  const unanswered = { served: 'none', serial: BEFORE_FIRST_SERIAL, answers_generation: 0 } as const;
  const { id, zone, ids, ...made } = await insertParts(trx, {
    domain: {
      account_id: accountId,
      name: nameText,
      unicode,
      dns_mode: dnsMode,
      plan_id: planId,
      created_at: now,
      updated_at: now,
      deleted_at: null,
      ...start.domain,
    },
    answered,
    unanswered,
    check: { parent: encodeNameColumn(parentOf(name)), ...check },
    newVerification: start.newVerification,
    ids: isAlone ? nameserversOf({ delegatedNs: null, chosenNs: null, nsSets }, settings).length : 0,
  });
  const {
    served,
    serial,
    answers_generation: answersGeneration,
  } = zone === undefined || answered === undefined ? unanswered : answered;
  const { status, findings, pending_since: pendingSince } = start.domain;
  // Reading the row back would take as long as inserting it.
  const row: DomainRow = {
    ...NEW_ROW,
    ...made.settings,
    id,
    accountId,
    name: nameText,
    unicode,
    zoneId: zone?.id ?? null,
    status,
    dnsMode,
    served,
    serial,
    answersGeneration,
    createdAt: now,
    updatedAt: now,
    pendingSince,
    nsSets,
    open: exempt,
    byOperator: exempt,
    approvedAhead: start.domain.approved_ahead,
    findings: JSON.parse(findings),
    plan: made.plan,
  };
  const lock = { row, zone, signed: undefined, settings, now, ahead: { records: [], ids } };
  return { lock, check };
}

/** The other columns of a new domain. */
const NEW_ROW = {
  leaving: false,
  disabledBy: null,
  suspendedAt: null,
  suspendedByHandAt: null,
  suspendedByDebtAt: null,
  recordCount: 0,
  edgeRegions: null,
  deletedAt: null,
  movedSince: null,
  delegatedNs: null,
  chosenNs: null,
  bannedName: false,
  endedAt: null,
  lentNs: null,
  turnFrom: null,
  turnUntil: null,
  isCopy: false,
  planOverrides: null,
} as const;

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
