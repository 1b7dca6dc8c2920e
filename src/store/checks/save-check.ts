// The last step of a check, and the only one that writes: what it saw and what that does to the domain, in one
// transaction. If the domain has changed since the check began, nothing is written.
//
//     the domain stays as it is → one statement for many checks (saveStillChecks, by gatherChecks)
//     anything else → under the locks of its name: columns, run, one change, the domains inside it

import { sql } from 'kysely';
import type { CheckedStatus } from '../../checks/delegation/check-state.ts';
import type { Decision } from '../../checks/delegation/next-status.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import type { DomainParts } from '../change/domain-parts.ts';
import { type DomainLock, lockDomainAndNames } from '../change/lock-domain.ts';
import { hasActiveDomainAround } from '../change/names-around.ts';
import { saveServed } from '../change/save-status.ts';
import { NOT_CHECKED, offParts } from '../change/start-status.ts';
import { hasSameNameservers, STATUS_BY_SYSTEM, servedNow, setPartsAndLock } from '../change/write-status.ts';
import { saveNameHolder } from '../domains/name-holders.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import {
  type CheckOrder,
  type CheckOutcome,
  findingsAfter,
  outcomeOf,
  publishedColumns,
  rememberedColumns,
} from './check-outcome.ts';
import { checkedStatusOf } from './load-checked-domain.ts';
import { type LastRun, saveRun } from './save-run.ts';

export type SavedCheck =
  | {
      readonly kind: 'saved';
      readonly checkId: number;
      readonly changeId?: number;
      readonly transition?: { readonly from: CheckedStatus; readonly to: Decision['to'] };
      /** The domain of another account that keeps this one from becoming active. */
      readonly refused?: string;
    }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'absent' };

/**
 * Saves a check, whatever it does to the domain. An order that comes again with its `request` is not counted again.
 */
export async function saveMovingCheck(db: Database, order: CheckOrder): Promise<SavedCheck> {
  return await inTransaction<SavedCheck>(db, (trx) => saveUnderLock(trx, order));
}

async function saveUnderLock(trx: Database, order: CheckOrder): Promise<SavedCheck> {
  const lock = await lockDomainAndNames(trx, order.domainId);
  if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
  const last = await loadLast(trx, order);
  if (last.sameRequest !== null) return { kind: 'saved', checkId: last.sameRequest };
  const from = checkedStatusOf(lock.row);
  if (from === undefined || lock.zone === undefined || last.seq !== order.seq) return { kind: 'conflict' };
  let outcome = outcomeOf(order);
  let refused: string | undefined;
  if (from === 'pending' && outcome.to === 'active') {
    if (!isAccepted(order, lock)) return { kind: 'conflict' };
    refused = await whyNotActive(trx, lock);
    if (refused !== undefined) outcome = stillPending(outcome, lock, refused);
  }
  await saveHolder(trx, lock, outcome);
  const checkId = await saveRun(trx, order, { outcome, from, last });
  const after = await setPartsAndLock(trx, lock.row.id, partsAfter(lock, outcome));
  const changeId = await saveChange(trx, lock, after, checkId);
  return {
    kind: 'saved',
    checkId,
    ...(changeId !== undefined && { changeId }),
    ...(outcome.to !== from && { transition: { from, to: outcome.to } }),
    ...(refused !== undefined && { refused }),
  };
}

interface Last extends LastRun {
  readonly seq: number;
  readonly sameRequest: number | null;
}

/** Locks the row too, since `saveStillChecks` may be saving another check without the domain's lock. */
async function loadLast(trx: Database, { domainId, request }: CheckOrder): Promise<Last> {
  const { rows } = await sql<Last>`
    select seq, last_run_id as "lastRunId", last_outcome as "lastOutcome",
      (select r.id from check_runs r where r.request = ${request ?? null}::uuid) as "sameRequest"
    from domain_checks where domain_id = ${domainId} for no key update`.execute(trx);
  return rows[0] as Last;
}

/** Whether the set is still accepted: the accepted sets may have changed since the check began. */
function isAccepted({ judgement }: CheckOrder, { settings }: DomainLock): boolean {
  return findSet(judgement.matched, settings.nameserverSets) !== undefined;
}

/**
 * Why the domain cannot become active: of two claims, one inside the other, the first to be delegated here gets both
 * names.
 */
async function whyNotActive(trx: Database, { row }: DomainLock): Promise<string | undefined> {
  if (!(await hasActiveDomainAround(trx, row.name, row.accountId))) return undefined;
  return 'This domain is delegated to us, but lies inside or above one that is active here in another account.';
}

const REFUSED_INTERVAL_SECONDS = 900;

function stillPending(outcome: CheckOutcome, { row }: DomainLock, message: string): CheckOutcome {
  const since = (row.pendingSince ?? row.createdAt).getTime();
  return {
    ...outcome,
    to: 'pending',
    state: { ...outcome.state, status: 'pending', since },
    findings: [...outcome.findings, { code: 'CLAIM_LOST', message }],
    nextAt: new Date(outcome.finishedAt.getTime() + REFUSED_INTERVAL_SECONDS * 1000),
    intervalSeconds: REFUSED_INTERVAL_SECONDS,
  };
}

function partsAfter({ row }: DomainLock, outcome: CheckOutcome): DomainParts {
  const { to, state } = outcome;
  const end: DomainParts = to === 'disabled' ? offParts(to, 'checker') : to === 'left' ? NOT_CHECKED : {};
  return {
    ...end,
    domain: {
      ...publishedColumns(outcome),
      // What was to be changed at the registrar concerns an external domain no more.
      findings: findingsAfter(row, to === 'left' ? { ...outcome, findings: [] } : outcome),
      ...(to === 'active' && { status: to, pending_since: null, moved_since: null }),
      ...(to === 'moved' && { status: to, moved_since: new Date(state.since) }),
      ...end.domain,
    },
    check: { ...rememberedColumns(outcome), ...end.check },
  };
}

/** Remembers the account that has the name here, and the end of its time. */
async function saveHolder(trx: Database, { row, now }: DomainLock, { to }: CheckOutcome): Promise<void> {
  if (to === 'active') await saveNameHolder(trx, { ...row, status: 'active', movedSince: null }, now);
  else if (to !== row.status) await saveNameHolder(trx, row, now);
}

/** Undefined: nodes serve the domain as before, and its status is the same. */
async function saveChange(
  trx: Database,
  { row: before }: DomainLock,
  after: DomainLock,
  checkId: number,
): Promise<number | undefined> {
  const { row } = after;
  const isServedAlike = (await servedNow(trx, after)) === before.served;
  const hasMoved = row.status !== before.status || row.leaving !== before.leaving;
  if (!hasMoved && isServedAlike && hasSameNameservers(before, after)) return undefined;
  const operation = hasMoved || !isServedAlike ? 'status' : 'nameservers';
  const { changeId } = await saveServed(trx, before, after, { ...STATUS_BY_SYSTEM, operation, checkId });
  await sql`update check_runs set change_id = ${changeId} where id = ${checkId}`.execute(trx);
  return changeId;
}
