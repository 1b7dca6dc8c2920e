// Saves a check, as its last step and the only one that writes: what it saw, and the effects on the domains of the
// name, in one transaction. Writes nothing if a relevant domain has changed since the check started
// (compare-claims.ts).
//
//     one domain, unchanged → one statement for many checks (saveStillChecks, by gatherChecks)
//     otherwise → under the locks of the name: columns, runs, changes, the domains around it

import { sql } from 'kysely';
import type { CheckedStatus } from '../../checks/delegation/check-state.ts';
import type { Decision } from '../../checks/delegation/next-status.ts';
import type { DomainParts } from '../change/domain-parts.ts';
import { type DomainLock, lockDomain, lockNamesAround } from '../change/lock-domain.ts';
import { settleAbove, writeSettled } from '../change/save-status.ts';
import { servedIn, settleName } from '../change/settle-name.ts';
import { NOT_CHECKED, NOT_VERIFIED, offParts } from '../change/start-status.ts';
import {
  hasSameNameservers,
  loseClaim,
  STATUS_BY_SYSTEM,
  setPartsAndLock,
  writeOther,
} from '../change/write-status.ts';
import { endRights, giveUpRights, saveNameHolder, saveSighting } from '../claims/name-rights.ts';
import { orderTakeoverMails } from '../people/mails.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import {
  type CheckOrder,
  type CheckOutcome,
  findingsAfter,
  outcomeOf,
  publishedColumns,
  rememberedColumns,
} from './check-outcome.ts';
import { compareClaims, type Found } from './compare-claims.ts';
import { saveRun } from './save-run.ts';

/** A check of a name: the orders of all its claims, and what is saved for the name itself. */
export interface NameOrder {
  readonly nameText: string;
  /** One order per claim. The claim for which the job ran comes first. */
  readonly orders: readonly [CheckOrder, ...CheckOrder[]];
  /** The domains that held the name when the check started. */
  readonly holders: readonly number[];
  /** Names of the fleet that the parent shows, sorted, in stored form. Undefined if there are none, or no new ones. */
  readonly sighting?: readonly string[] | undefined;
  /** A domain in external mode that loses the name. */
  readonly lostExternal?: number | undefined;
  /** The sets that claims lose, by account. */
  readonly givenUp: readonly { readonly accountId: number; readonly sets: readonly (readonly string[])[] }[];
  readonly isTakeover: boolean;
  /** Domains that hold the name, if another account starts to take it over: their owners receive this message by email. */
  readonly warned: readonly { readonly domainId: number; readonly message: string }[];
}

export type SavedCheck =
  | {
      readonly kind: 'saved';
      readonly checkId: number;
      readonly changeId?: number;
      readonly transition?: Transition;
      /** Status changes of the name's other domains. */
      readonly others?: readonly (Transition & { readonly domainId: number })[];
    }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'absent' };

interface Transition {
  readonly from: CheckedStatus;
  readonly to: Decision['to'];
}

/** Saves a check with any effect on the domains. An order repeated with the same `request` is not counted again. */
export async function saveMovingCheck(db: Database, order: NameOrder): Promise<SavedCheck> {
  return await inTransaction<SavedCheck>(db, (trx) => saveUnderLock(trx, order));
}

async function saveUnderLock(trx: Database, name: NameOrder): Promise<SavedCheck> {
  const { nameText, orders } = name;
  await lockNamesAround(trx, nameText);
  const compared = await compareClaims(trx, name);
  if (compared.kind !== 'same') return compared;
  const { found } = compared;
  await saveName(trx, name, found);
  // A domain that takes the name comes last, after the domain that loses it has given up the zone.
  found.sort((a, b) => Number(a.order.decision.to === 'active') - Number(b.order.decision.to === 'active'));
  const saved = new Map<CheckOrder, Saved>();
  for (const each of found) {
    // The previous save may have passed the zone to or from this domain.
    const lock = saved.size === 0 ? each.lock : ((await lockDomain(trx, each.lock.row.id)) as DomainLock);
    saved.set(each.order, await saveOne(trx, { ...each, lock }));
  }
  const [first, ...rest] = orders;
  const own = saved.get(first) as Saved;
  const others = rest.flatMap((order) => {
    const transition = saved.get(order)?.transition;
    return transition === undefined ? [] : [{ ...transition, domainId: order.domainId }];
  });
  return { ...own, kind: 'saved', ...(others.length > 0 && { others }) };
}

interface Saved {
  readonly checkId: number;
  readonly changeId?: number;
  readonly transition?: Transition;
}

async function saveName(trx: Database, name: NameOrder, found: readonly Found[]): Promise<void> {
  const { nameText, orders, sighting, lostExternal, givenUp, isTakeover, warned } = name;
  const at = new Date(orders[0].finishedAt);
  for (const warning of warned) await orderTakeoverMails(trx, warning);
  if (sighting !== undefined) await saveSighting(trx, nameText, sighting, at);
  const isSaved = (accountId: number) => found.some(({ lock }) => lock.row.accountId === accountId);
  for (const { accountId, sets } of givenUp)
    if (isSaved(accountId)) await giveUpRights(trx, nameText, accountId, sets);
  if (!isTakeover) return;
  const winner = found.find(({ order, from }) => order.decision.to === 'active' && from === 'pending');
  const loser =
    lostExternal === undefined
      ? found.find(({ order, from }) => order.decision.to === 'disabled' && from !== 'pending')?.lock
      : await lockDomain(trx, lostExternal);
  if (winner === undefined || loser === undefined) rollBackTo({ kind: 'conflict' } satisfies SavedCheck);
  if (lostExternal !== undefined) await loseClaim(trx, lostExternal);
  await sql`
    insert into name_takeovers (name, at, from_account_id, to_account_id)
    values (${nameText}, ${at}, ${loser.row.accountId}, ${winner.lock.row.accountId})
    on conflict do nothing`.execute(trx);
}

async function saveOne(trx: Database, { order, lock, from, last }: Found): Promise<Saved> {
  const outcome = outcomeOf(order);
  await saveHolder(trx, lock, outcome);
  const checkId = await saveRun(trx, order, { outcome, from, last });
  const after = await setPartsAndLock(trx, lock.row.id, partsAfter(lock, outcome));
  const changeId = await saveChange(trx, lock, after, checkId);
  if (outcome.to === 'disabled') await endRights(trx, lock.row.name, lock.row.accountId);
  return {
    checkId,
    ...(changeId !== undefined && { changeId }),
    ...(outcome.to !== from && { transition: { from, to: outcome.to } }),
  };
}

function partsAfter({ row, now }: DomainLock, outcome: CheckOutcome): DomainParts {
  const { to, state } = outcome;
  const end: DomainParts =
    to === 'disabled' ? offParts(to, 'checker', now) : to === 'left' ? NOT_CHECKED : {};
  return {
    ...end,
    domain: {
      ...publishedColumns(outcome),
      // Findings about the registrar no longer concern an external domain.
      findings: findingsAfter(row, to === 'left' ? { ...outcome, findings: [] } : outcome),
      ...(to === 'active' && { status: to, pending_since: null, moved_since: null }),
      ...(to === 'moved' && { status: to, moved_since: new Date(state.since) }),
      ...(to === 'pending' && row.status === 'disabled' && returnColumns(state.since)),
      ...end.domain,
    },
    check: { ...rememberedColumns(outcome), ...end.check },
    ...(endsTxt(row, outcome) && { verification: { ...NOT_VERIFIED, verified_at: null } }),
  };
}

/**
 * Returns true if a TXT record that was found no longer counts. It counts for a waiting claim while its DNS is at
 * another provider. When the parent shows the fleet's names of another claim, they may be set by someone else.
 */
function endsTxt({ status, open }: DomainLock['row'], { to, open: isOpen }: CheckOutcome): boolean {
  if (to === 'left' || to === 'leaving' || to === 'ended') return false;
  return to !== status || (open && !isOpen);
}

/** A domain that recovers automatically is pending. The next check may make it active. */
function returnColumns(since: number) {
  const at = new Date(since);
  return {
    status: 'pending',
    disabled_by: null,
    pending_since: at,
    moved_since: null,
    claimed_at: at,
    ended_at: null,
  } as const;
}

/** Stores the account that held the name, and the end of that time. */
async function saveHolder(trx: Database, { row, now }: DomainLock, { to }: CheckOutcome): Promise<void> {
  if (to === 'active') await saveNameHolder(trx, { ...row, status: 'active', movedSince: null }, now);
  else if (to !== row.status) await saveNameHolder(trx, row, now);
}

/** Returns undefined if status and served records are unchanged. */
async function saveChange(
  trx: Database,
  { row: before }: DomainLock,
  after: DomainLock,
  checkId: number,
): Promise<number | undefined> {
  const { row } = after;
  const hasMoved = row.status !== before.status || row.leaving !== before.leaving;
  if (hasMoved) await settleAbove(trx, row.name);
  const settled = await settleName(trx, row.name);
  const isSettled = settled.moved.includes(row.id) || settled.lent?.id === row.id;
  const isServedAlike = servedIn(settled, row.id) === before.served && !isSettled;
  if (!hasMoved && isServedAlike && hasSameNameservers(before, after)) {
    for (const other of settled.moved) await writeOther(trx, settled, other);
    if (settled.answered !== undefined) await writeOther(trx, settled, settled.answered.id);
    return undefined;
  }
  const operation = hasMoved || !isServedAlike ? 'status' : 'nameservers';
  const change = { ...STATUS_BY_SYSTEM, operation, checkId } as const;
  const { changeId } = await writeSettled(trx, settled, before, after, change);
  await sql`update check_runs set change_id = ${changeId} where id = ${checkId}`.execute(trx);
  return changeId;
}
