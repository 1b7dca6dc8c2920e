// The last step of a verification, and the only one that writes: what it saw and what that does to the domain, in one
// transaction. If the domain has changed since the verification began, nothing is written.
//
//     still unverified → the lock of the domain's row: when to look again, the run
//     active, disabled → under the locks of its name: columns, run, one change, the domains inside it

import { sql } from 'kysely';
import type { VerificationDecision } from '../../checks/txt/next-verification.ts';
import type { TxtEvidence } from '../../checks/txt/txt-evidence.ts';
import type { TxtJudgement } from '../../checks/txt/txt-judgement.ts';
import type { DomainParts } from '../change/domain-parts.ts';
import { type DomainLock, lockDomainAndNames } from '../change/lock-domain.ts';
import { saveStatus } from '../change/save-status.ts';
import { NOT_VERIFIED, offParts } from '../change/start-status.ts';
import { STATUS_BY_SYSTEM } from '../change/write-status.ts';
import { findingsWith, findingsWithout } from '../domains/findings-column.ts';
import type { Database } from '../postgres/database.ts';
import type { CheckKind } from '../postgres/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { IS_TO_BE_VERIFIED, lockVerified } from './load-verified-domain.ts';
import { encodeTxtEvidence, encodeTxtResolvers, encodeTxtServers } from './verification-run-row.ts';

interface VerificationOrder {
  readonly domainId: number;
  /** The number from `loadVerifiedDomain`. */
  readonly seq: number;
  readonly value: string;
  readonly decision: VerificationDecision;
  /** Undefined: no look was made, since the value has expired. */
  readonly look: VerificationLook | undefined;
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
      /** Undefined when no look was made. */
      readonly runId: number | undefined;
      readonly changeId?: number;
      readonly transition?: { readonly from: 'unverified'; readonly to: 'active' | 'disabled' };
      /** The domain of another account that keeps this one from becoming active. */
      readonly refused?: string;
    }
  | { readonly kind: 'conflict' };

/** Saves a verification. An order that comes again with its `request` is not counted again. */
export async function saveVerification(db: Database, order: VerificationOrder): Promise<SavedVerification> {
  return await inTransaction<SavedVerification>(db, async (trx) => {
    if (order.decision.to === 'unverified') return await saveStill(trx, order, order.decision);
    const lock = await lockDomainAndNames(trx, order.domainId);
    if (lock === undefined || !(await isAsItWas(trx, order))) return await savedBefore(trx, order);
    if (order.decision.to === 'active' && (await isHeldByOther(trx, lock.row.name, order.domainId)))
      return await saveRefused(trx, order);
    return await saveMove(trx, lock, order, order.decision.to);
  });
}

type Still = Pick<VerificationDecision, 'attempts' | 'nextAt'>;

async function saveStill(
  trx: Database,
  order: VerificationOrder,
  { attempts, nextAt }: Still,
): Promise<SavedVerification> {
  const next = nextAt === undefined ? null : new Date(nextAt);
  await lockVerified(trx, order.domainId);
  const { numAffectedRows } = await sql`
    update domain_verifications v set attempts = ${attempts}, due_at = ${next}, next_at = ${next}, seq = v.seq + 1
    from domains d where ${isSame(order)}`.execute(trx);
  if (numAffectedRows === 0n) return await savedBefore(trx, order);
  return { kind: 'saved', runId: await saveRun(trx, order) };
}

/**
 * Whether the domain is unchanged: after a fresh value, another mode or a deletion, the evidence no longer applies to
 * it.
 */
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

const REFUSED_RETRY_MS = 3_600_000;

/** A TXT record proves against claims that wait, never against a domain that holds the name. */
async function isHeldByOther(trx: Database, nameText: string, domainId: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from domains where name = ${nameText} and id <> ${domainId} and deleted_at is null
      and (leaving or status in ('active', 'moved'))) as held`.execute(trx);
  return rows[0]?.held ?? false;
}

/** Saves a refusal: another account holds the name. */
async function saveRefused(trx: Database, order: VerificationOrder): Promise<SavedVerification> {
  const refused =
    'The TXT record is there, but another account uses this name here. It becomes yours when your registrar shows the nameservers of a domain of yours in managed mode.';
  await sql`
    update domains set findings = ${findingsWith({ code: 'NAME_IN_USE', message: refused })}
    where id = ${order.domainId}`.execute(trx);
  const { attempts } = order.decision;
  const saved = await saveStill(trx, order, { attempts, nextAt: Date.now() + REFUSED_RETRY_MS });
  return { ...saved, ...(saved.kind === 'saved' && { refused }) };
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
          domain: { status: to, findings: findingsWithout('NAME_IN_USE') },
          verification: { ...NOT_VERIFIED, verified_at: lock.now },
        }
      : offParts(to, 'checker', lock.now);
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
