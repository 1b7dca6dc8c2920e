// Saves a verification, as its last step and the only one that writes: what it saw, and the effects on the domain, in
// one transaction. Writes nothing if the domain has changed since the verification started.
//
//     unverified, or pending as before → the lock of the domain's row: the time of the next query, the run
//     found, lapsed (managed mode) → under the locks of its name: the run, and what is answered of the name
//     active, disabled → under the locks of its name: columns, run, one change, the domains inside it; a holder that
//     loses it

import { sql } from 'kysely';
import type { Finding } from '../../checks/delegation/finding.ts';
import type { Preparation } from '../../checks/txt/next-preparation.ts';
import type { VerificationDecision } from '../../checks/txt/next-verification.ts';
import type { TxtEvidence } from '../../checks/txt/txt-evidence.ts';
import { TXT_FINDINGS } from '../../checks/txt/txt-findings.ts';
import type { TxtJudgement } from '../../checks/txt/txt-judgement.ts';
import type { TxtTakeover } from '../../checks/txt/txt-takeover.ts';
import { challengeOf } from '../../zone/domain/challenge-name.ts';
import type { DomainParts } from '../change/domain-parts.ts';
import { type DomainLock, lockDomain, lockDomainAndNames } from '../change/lock-domain.ts';
import { saveStatus, settleAgain } from '../change/save-status.ts';
import { NOT_CHECKED, NOT_VERIFIED, offParts } from '../change/start-status.ts';
import { loseClaim, STATUS_BY_SYSTEM } from '../change/write-status.ts';
import { findingsWith, findingsWithout } from '../domains/domain-row.ts';
import { orderTakeoverMails } from '../people/mails.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { encodeTxtEvidence, encodeTxtResolvers, encodeTxtServers } from './verification-run-row.ts';
import { HOLDS_BY_TXT, IS_TO_BE_VERIFIED, lockVerified, type TxtHolder } from './verified-domain.ts';

/** The effect of a query on a domain in external mode. */
interface ProofDecision extends VerificationDecision {
  /** The effect on the account that has the name by its TXT record, if any. */
  readonly takeover?: { readonly holder: TxtHolder; readonly step: TxtTakeover } | undefined;
  /** If the value was not found: since when the previous query counts, in milliseconds since 1970. */
  readonly takeoverSeenAt: number | undefined;
}

/** The effect on a claim in managed mode. */
interface PreparationDecision extends Preparation {
  readonly to: 'pending';
}

interface VerificationOrder {
  readonly domainId: number;
  /** The number from `loadVerifiedDomain`. */
  readonly seq: number;
  readonly value: string;
  readonly decision: ProofDecision | PreparationDecision;
  /** Undefined if the value has expired, so that nothing was queried. */
  readonly look: VerificationLook | undefined;
  /** True if the holder of the name receives a mail when another account is about to take it. */
  readonly sendsMail?: boolean;
}

export interface VerificationLook {
  readonly kind: CheckKind;
  /** A UUID by which the caller finds the run. */
  readonly request?: string | undefined;
  readonly evidence: TxtEvidence;
  readonly judgement: TxtJudgement;
}

type SavedVerification =
  | {
      readonly kind: 'saved';
      /** Undefined if nothing was queried. */
      readonly runId: number | undefined;
      readonly changeId?: number;
      readonly transition?: { readonly from: 'unverified'; readonly to: 'active' | 'disabled' };
      /** The domain of another account that lost the name. */
      readonly lost?: number;
    }
  | { readonly kind: 'conflict' };

/** Saves a verification. An order repeated with the same `request` is not counted again. */
export async function saveVerification(db: Database, order: VerificationOrder): Promise<SavedVerification> {
  const { decision, domainId } = order;
  return await inTransaction<SavedVerification>(db, async (trx) => {
    if (decision.to === 'unverified') return await saveStill(trx, order, unchangedColumns(decision));
    if (decision.to === 'pending' && decision.turns === undefined)
      return await saveStill(trx, order, preparedColumns(decision));
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || !(await isAsItWas(trx, order))) return await savedBefore(trx, order);
    if (decision.to === 'pending') return await savePrepared(trx, lock, order, decision);
    if (decision.to === 'disabled') return await saveMove(trx, lock, order, decision.to);
    return await saveProved(trx, lock, order, decision);
  });
}

/** Columns of the verification that change if the domain stays the same. */
interface UnchangedColumns {
  readonly attempts: number;
  readonly next_at: Date | null;
  readonly takeover_seen_at: Date | null;
  /** If undefined, the column keeps its value. */
  readonly verified_at?: Date | null;
}

function unchangedColumns({
  attempts,
  nextAt,
  takeoverSeenAt,
}: Pick<ProofDecision, 'attempts' | 'nextAt' | 'takeoverSeenAt'>): UnchangedColumns {
  return { attempts, next_at: dateOf(nextAt), takeover_seen_at: dateOf(takeoverSeenAt) };
}

function preparedColumns({ attempts, nextAt, foundAt }: Preparation): UnchangedColumns {
  return { attempts, next_at: dateOf(nextAt), takeover_seen_at: null, verified_at: dateOf(foundAt) };
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

async function saveStill(
  trx: Database,
  order: VerificationOrder,
  { attempts, next_at, takeover_seen_at, verified_at }: UnchangedColumns,
): Promise<SavedVerification> {
  await lockVerified(trx, order.domainId);
  const found = verified_at === undefined ? sql`` : sql`verified_at = ${verified_at},`;
  const { rows } = await sql<{ hadSeen: boolean }>`
    with before as (
      select v.domain_id, v.takeover_seen_at from domains d, domain_verifications v where ${isSame(order)})
    update domain_verifications v set attempts = ${attempts}, due_at = ${next_at}, next_at = ${next_at}, ${found}
      takeover_seen_at = ${takeover_seen_at}, seq = v.seq + 1
    from before b where v.domain_id = b.domain_id
    returning b.takeover_seen_at is not null as "hadSeen"`.execute(trx);
  if (rows[0] === undefined) return await savedBefore(trx, order);
  if (rows[0].hadSeen && takeover_seen_at === null)
    await sql`update domains set findings = ${findingsWithout('TAKEOVER_WAITS')} where id = ${order.domainId}`.execute(
      trx,
    );
  return { kind: 'saved', runId: await saveRun(trx, order) };
}

/** SQL condition: the domain is unchanged. After a new value, another mode or a deletion, the evidence no longer applies. */
function isSame({ domainId, seq, value }: VerificationOrder) {
  return sql`d.id = ${domainId} and v.domain_id = d.id and v.seq = ${seq} and v.value = ${value} and ${IS_TO_BE_VERIFIED}`;
}

async function isAsItWas(trx: Database, order: VerificationOrder): Promise<boolean> {
  const { rows } = await sql`
    select from domains d, domain_verifications v where ${isSame(order)}`.execute(trx);
  return rows.length > 0;
}

async function savedBefore(trx: Database, { look }: VerificationOrder): Promise<SavedVerification> {
  const { rows } = await sql<{ id: number }>`
    select id from verification_runs where request = ${look?.request ?? null}::uuid`.execute(trx);
  return rows[0] === undefined ? { kind: 'conflict' } : { kind: 'saved', runId: rows[0].id };
}

/** Saves whether the record counts from now on. As a result, another domain may be served, or more records of this one. */
async function savePrepared(
  trx: Database,
  { row }: DomainLock,
  order: VerificationOrder,
  decision: PreparationDecision,
): Promise<SavedVerification> {
  const saved = await saveStill(trx, order, preparedColumns(decision));
  // The domain is answered completely in its turn.
  if (decision.turns === 'found')
    await sql`
      update domains set turn_asked_at = clock_timestamp()
      where id = ${row.id} and turn_asked_at is null and (turn_until is null or turn_until <= clock_timestamp())`.execute(
      trx,
    );
  await settleAgain(trx, row.name);
  return saved;
}

/**
 * A TXT record takes precedence over waiting claims. If two are proved by it, the first holds the name. The parent's
 * delegation takes precedence over TXT records.
 */
async function saveProved(
  trx: Database,
  lock: DomainLock,
  order: VerificationOrder,
  decision: ProofDecision,
): Promise<SavedVerification> {
  const holder = await loadHolder(trx, lock.row.name, order.domainId);
  if (holder === undefined) return await saveMove(trx, lock, order, 'active');
  const { attempts, takeover } = decision;
  if (!holder.isByTxt) {
    const nextAt = Date.now() + REFUSED_RETRY_MS;
    return await saveRefused(trx, order, { attempts, nextAt, finding: TXT_FINDINGS.NAME_IN_USE() });
  }
  // The evidence does not apply to a holder that has changed since.
  if (takeover === undefined || takeover.holder.id !== holder.id || takeover.holder.value !== holder.value)
    return { kind: 'conflict' };
  const { step } = takeover;
  if (step.kind === 'held')
    return await saveRefused(trx, order, {
      attempts,
      nextAt: step.nextAt,
      finding: TXT_FINDINGS.RECORD_IN_USE(),
    });
  if (step.kind === 'seen') {
    if (order.sendsMail === true) await warn(trx, lock, order, holder);
    return await saveRefused(trx, order, {
      attempts,
      nextAt: step.nextAt,
      takeoverSeenAt: step.since,
      finding: TXT_FINDINGS.TAKEOVER_WAITS(),
    });
  }
  return await saveTakeover(trx, lock, order, holder.id);
}

/** Mails the holder once, until no other claim has its record published without the holder's. */
async function warn(
  trx: Database,
  { row }: DomainLock,
  { domainId }: VerificationOrder,
  { id, value }: TxtHolder,
): Promise<void> {
  const { rows } = await sql`
    select from domains d join domain_verifications v on v.domain_id = d.id
    where d.name = ${row.name} and d.deleted_at is null and d.status = 'unverified'
      and (v.takeover_seen_at is not null
        or d.id <> ${domainId} and d.findings @> '[{"code": "TAKEOVER_WAITS"}]')`.execute(trx);
  if (rows.length > 0) return;
  const { message } = TXT_FINDINGS.TAKEOVER_SEEN(challengeOf(decodeNameColumn(row.name)), value);
  await orderTakeoverMails(trx, { domainId: id, message });
}

interface Holder extends TxtHolder {
  readonly isByTxt: boolean;
}

/** Returns the domain of another account that has the name. One proved by the parent's delegation comes first. */
async function loadHolder(trx: Database, nameText: string, domainId: number): Promise<Holder | undefined> {
  const { rows } = await sql<Holder>`
    select h.id, w.value, ${HOLDS_BY_TXT} as "isByTxt"
    from domains h left join domain_verifications w on w.domain_id = h.id
    where h.name = ${nameText} and h.id <> ${domainId} and h.deleted_at is null
      and (h.leaving or h.status in ('active', 'moved'))
    order by ${HOLDS_BY_TXT} limit 1`.execute(trx);
  return rows[0];
}

const REFUSED_RETRY_MS = 3_600_000;

interface Refused {
  readonly attempts: number;
  readonly nextAt: number;
  readonly takeoverSeenAt?: number;
  readonly finding: Finding;
}

/** Another account keeps the name, temporarily or permanently. */
async function saveRefused(
  trx: Database,
  order: VerificationOrder,
  { attempts, nextAt, takeoverSeenAt, finding }: Refused,
): Promise<SavedVerification> {
  const saved = await saveStill(trx, order, unchangedColumns({ attempts, nextAt, takeoverSeenAt }));
  await sql`
    update domains set findings = ${findingsWith(finding, 'NAME_IN_USE', 'TAKEOVER_WAITS')}
    where id = ${order.domainId}`.execute(trx);
  return saved;
}

/** Transfers the name: the holder is disabled, and its configuration is kept. */
async function saveTakeover(
  trx: Database,
  lock: DomainLock,
  order: VerificationOrder,
  holderId: number,
): Promise<SavedVerification> {
  const { row: holder } = (await lockDomain(trx, holderId)) as DomainLock;
  await loseClaim(trx, holderId, { finding: TXT_FINDINGS.CLAIM_LOST() });
  await sql`
    insert into name_takeovers (name, at, from_account_id, to_account_id)
    values (${lock.row.name}, ${lock.now}, ${holder.accountId}, ${lock.row.accountId})
    on conflict do nothing`.execute(trx);
  const saved = await saveMove(trx, lock, order, 'active');
  return { ...saved, ...(saved.kind === 'saved' && { lost: holderId }) };
}

async function saveMove(
  trx: Database,
  lock: DomainLock,
  order: VerificationOrder,
  to: 'active' | 'disabled',
): Promise<SavedVerification> {
  const runId = await saveRun(trx, order);
  const parts: DomainParts =
    to === 'active'
      ? {
          domain: { status: to, findings: findingsWithout('NAME_IN_USE', 'TAKEOVER_WAITS') },
          verification: { ...NOT_VERIFIED, verified_at: lock.now },
        }
      : // no delegation can restore it
        { ...offParts(to, 'checker', lock.now), check: NOT_CHECKED.check };
  const { changeId } = await saveStatus(trx, lock, parts, STATUS_BY_SYSTEM);
  if (runId !== undefined)
    await sql`update verification_runs set change_id = ${changeId} where id = ${runId}`.execute(trx);
  return { kind: 'saved', runId, changeId, transition: { from: 'unverified', to } };
}

const RUNS_KEPT = 20;

async function saveRun(
  trx: Database,
  { domainId, value, look }: VerificationOrder,
): Promise<number | undefined> {
  if (look === undefined) return undefined;
  const { kind, request, evidence, judgement } = look;
  const { id } = await trx
    .insertInto('verification_runs')
    .values({
      domain_id: domainId,
      kind,
      request: request ?? null,
      value,
      started_at: new Date(evidence.startedAt),
      finished_at: new Date(evidence.finishedAt),
      verdict: judgement.verdict,
      found: judgement.found,
      asked: judgement.asked,
      servers: JSON.stringify(encodeTxtServers(judgement)),
      resolvers: JSON.stringify(encodeTxtResolvers(judgement)),
      message: judgement.message,
      evidence: JSON.stringify(encodeTxtEvidence(evidence)),
      change_id: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    delete from verification_runs where domain_id = ${domainId} and id < (
      select id from verification_runs where domain_id = ${domainId} order by id desc
      offset ${RUNS_KEPT - 1}::integer limit 1)`.execute(trx);
  return id;
}
