// The fourth beat of a verification, and the only one that writes: what it saw and what that does to the domain, in one
// transaction. One that comes too late, because the domain is not what it began with, writes nothing at all.
//
//     still unverified → the row's own lock: when to look again, the run
//     active, disabled → under the locks of its name: columns, run, one change, the domains inside it

import { sql } from 'kysely';
import type { TxtJudgement } from '../checks/judge-txt.ts';
import type { VerificationDecision } from '../checks/next-verification.ts';
import type { TxtEvidence } from '../checks/txt-evidence.ts';
import { hasActiveDomainAround } from './claim-name.ts';
import type { Database } from './database.ts';
import { findingsWith, findingsWithout } from './findings-column.ts';
import { loadRecordsAt } from './load-touched-records.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';
import { type DomainLock, lockDomain, lockDomainAndNames } from './lock-domain.ts';
import { decodeNameColumn } from './name-column.ts';
import type { CheckKind } from './schema.ts';
import { servedNow, settleEnclosed, takeEnclosedClaims } from './settle-enclosed.ts';
import { NEXT_CHECK_SEQ, NOT_VERIFIED, offColumns } from './start-status.ts';
import { inTransaction } from './transaction.ts';
import { encodeTxtEvidence, encodeTxtResolvers, encodeTxtServers } from './verification-run-row.ts';
import { writeDomainChange } from './write-domain-change.ts';

export interface VerificationOrder {
  readonly domainId: number;
  /** Of `loadVerifiedDomain`. */
  readonly seq: number;
  readonly value: string;
  readonly decision: VerificationDecision;
  /** Undefined: nobody looked, since the value has expired. */
  readonly look: VerificationLook | undefined;
}

export interface VerificationLook {
  readonly kind: CheckKind;
  /** A UUID by which whoever asked finds the run. */
  readonly request?: string | undefined;
  readonly evidence: TxtEvidence;
  readonly judgement: TxtJudgement;
}

export type SavedVerification =
  | {
      readonly kind: 'saved';
      /** Undefined where nobody looked. */
      readonly runId: number | undefined;
      readonly changeId?: number;
      readonly transition?: { readonly from: 'unverified'; readonly to: 'active' | 'disabled' };
      /** It would be active, were it not for a domain of another account. */
      readonly refused?: string;
    }
  | { readonly kind: 'conflict' };

/** An order that is given again with its `request` is not counted again. */
export async function saveVerification(db: Database, order: VerificationOrder): Promise<SavedVerification> {
  return await inTransaction<SavedVerification>(db, async (trx) => {
    if (order.decision.to === 'unverified') return await saveStill(trx, order, order.decision);
    const lock = await lockDomainAndNames(trx, order.domainId);
    if (lock === undefined || !(await isAsItWas(trx, order))) return await savedBefore(trx, order);
    if (
      order.decision.to === 'active' &&
      (await hasActiveDomainAround(trx, lock.row.name, lock.row.accountId))
    )
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
  const { numAffectedRows } = await sql`
    update domains d set txt_attempts = ${attempts}, txt_due_at = ${next}, txt_next_at = ${next}, txt_seq = txt_seq + 1
    where ${isSame(order)}`.execute(trx);
  if (numAffectedRows === 0n) return await savedBefore(trx, order);
  return { kind: 'saved', runId: await saveRun(trx, order) };
}

/** A fresh value, another mode, a deletion: whatever happened since, what was seen is not about this any more. */
function isSame({ domainId, seq, value }: VerificationOrder) {
  return sql`d.id = ${domainId} and d.txt_seq = ${seq} and d.verification_value = ${value} and ${IS_TO_BE_VERIFIED}`;
}

async function isAsItWas(trx: Database, order: VerificationOrder): Promise<boolean> {
  return (await sql`select from domains d where ${isSame(order)}`.execute(trx)).rows.length > 0;
}

async function savedBefore(trx: Database, { look }: VerificationOrder): Promise<SavedVerification> {
  const { rows } = await sql<{ id: number }>`
    select id from verification_runs where request = ${look?.request ?? null}::uuid`.execute(trx);
  return rows[0] === undefined ? { kind: 'conflict' } : { kind: 'saved', runId: rows[0].id };
}

const REFUSED_RETRY_MS = 3_600_000;

/** Of two claims that lie in each other, the first to be proved has both names. */
async function saveRefused(trx: Database, order: VerificationOrder): Promise<SavedVerification> {
  const refused =
    'The TXT record is there, but this domain lies inside or above one that is active here in another account.';
  await sql`
    update domains set findings = ${findingsWith({ code: 'CLAIM_LOST', message: refused })}
    where id = ${order.domainId}`.execute(trx);
  const { attempts } = order.decision;
  const saved = await saveStill(trx, order, { attempts, nextAt: Date.now() + REFUSED_RETRY_MS });
  return { ...saved, ...(saved.kind === 'saved' && { refused }) };
}

async function saveMove(
  trx: Database,
  { row, now }: DomainLock,
  order: VerificationOrder,
  to: 'active' | 'disabled',
): Promise<SavedVerification> {
  await trx
    .updateTable('domains')
    .set({
      ...(to === 'active'
        ? { status: to, verified_at: now, findings: findingsWithout('CLAIM_LOST'), ...NOT_VERIFIED }
        : offColumns(to, 'checker')),
      check_seq: NEXT_CHECK_SEQ,
      txt_seq: sql<number>`txt_seq + 1`,
    })
    .where('id', '=', row.id)
    .execute();
  const runId = await saveRun(trx, order);
  const lock = (await lockDomain(trx, row.id)) as DomainLock;
  const apex = decodeNameColumn(row.name);
  const { changeId } = await writeDomainChange(trx, lock, {
    by: { kind: 'system' },
    source: 'status',
    operation: 'status',
    status: { from: 'unverified', to },
    served: await servedNow(trx, lock), // one that was managed is served until its delegation has left
    // Every change publishes the apex anew, for its serial: with what the owner has there.
    publish: new Map([[apex, await loadRecordsAt(trx, row.id, [apex])]]),
  });
  if (runId !== undefined)
    await sql`update verification_runs set change_id = ${changeId} where id = ${runId}`.execute(trx);
  if (to === 'active') await takeEnclosedClaims(trx, row);
  await settleEnclosed(trx, row.name);
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
