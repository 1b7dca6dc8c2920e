// The last step of a check, and the only one that writes: what it saw and what that does to the domains of the name, in
// one transaction. If a domain that counts has changed since the check began, nothing is written (compare-claims.ts).
//
//     one domain, which stays as it is → one statement for many checks (saveStillChecks, by gatherChecks)
//     anything else → under the locks of the name: columns, runs, changes, the domains around it

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
  /** One for each claim; that of the claim which the job was made for comes first. */
  readonly orders: readonly [CheckOrder, ...CheckOrder[]];
  /** The domains that held the name when the check began. */
  readonly holders: readonly number[];
  /** Names of ours that the parent shows, sorted as in their column; undefined: known already, or none. */
  readonly sighting?: readonly string[] | undefined;
  /** A domain in external mode that loses the name. */
  readonly lostExternal?: number | undefined;
  /** The sets that claims lose, by account. */
  readonly givenUp: readonly { readonly accountId: number; readonly sets: readonly (readonly string[])[] }[];
  readonly isTakeover: boolean;
  /** Domains that hold the name, when another account's taking it begins: whoever owns them is mailed this. */
  readonly warned: readonly { readonly domainId: number; readonly message: string }[];
}

export type SavedCheck =
  | {
      readonly kind: 'saved';
      readonly checkId: number;
      readonly changeId?: number;
      readonly transition?: Transition;
      /** Those of the name's other domains. */
      readonly others?: readonly (Transition & { readonly domainId: number })[];
    }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'absent' };

interface Transition {
  readonly from: CheckedStatus;
  readonly to: Decision['to'];
}

/**
 * Saves a check, whatever it does to the domains. An order that comes again with its `request` is not counted again.
 */
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
  // A domain that takes the name comes last: the one that loses it has given up its zone by then.
  found.sort((a, b) => Number(a.order.decision.to === 'active') - Number(b.order.decision.to === 'active'));
  const saved = new Map<CheckOrder, Saved>();
  for (const each of found) {
    // The zone may have passed to this domain, or from it, by what was saved of the one before.
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
      // What was to be changed at the registrar concerns an external domain no more.
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
 * A TXT record that was found counts for a claim that waits, as long as its DNS is elsewhere: once the parent shows names of
 * ours that are another's, whoever put them there need not be who had the record.
 */
function endsTxt({ status, open }: DomainLock['row'], { to, open: isOpen }: CheckOutcome): boolean {
  if (to === 'left' || to === 'leaving' || to === 'ended') return false;
  return to !== status || (open && !isOpen);
}

/** A domain that comes back by itself is pending, and the next check may make it active. */
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
