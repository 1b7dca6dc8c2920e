// Compares the claims of a name with what a check of it began with, under the locks of the name. The claim that the check was
// made for, and whoever holds or gets the name, must be as they were. A claim that only waits may have gone or changed: it is
// left out, or whoever creates and deletes claims without end would keep the name's owner from every result. That gives the
// others nothing: with more claims beside it a claim is judged more strictly.

import { sql } from 'kysely';
import type { CheckedStatus } from '../../checks/delegation/check-state.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import { type DomainLock, lockDomain } from '../change/lock-domain.ts';
import { provingSets } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import type { CheckOrder } from './check-outcome.ts';
import { checkedStatusOf } from './load-checked-name.ts';
import type { LastRun } from './save-run.ts';

/** What the check began with; the claim that it was made for comes first. */
interface Began {
  readonly nameText: string;
  readonly orders: readonly CheckOrder[];
  /** The domains that held the name. */
  readonly holders: readonly number[];
}

type Compared =
  /** With the claims that are as they were, in the order of their ids. */
  | { readonly kind: 'same'; readonly found: Found[] }
  | { readonly kind: 'saved'; readonly checkId: number }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'absent' };

export interface Found {
  readonly order: CheckOrder;
  readonly lock: DomainLock;
  readonly from: CheckedStatus;
  readonly last: Last;
}

interface Last extends LastRun {
  readonly seq: number;
  readonly sameRequest: number | null;
}

/** Call it under `lockNamesAround`. Locks the claims. */
export async function compareClaims(trx: Database, { nameText, orders, holders }: Began): Promise<Compared> {
  const found: Found[] = [];
  for (const order of [...orders].sort((a, b) => a.domainId - b.domainId)) {
    const isAsked = order === orders[0];
    const lock = await lockDomain(trx, order.domainId);
    const isGone = lock === undefined || lock.row.deletedAt !== null;
    if (isGone && isAsked) return { kind: 'absent' };
    const same = isGone ? undefined : await findSame(trx, order, lock);
    if (same?.last.sameRequest != null) return { kind: 'saved', checkId: same.last.sameRequest };
    if (same?.from !== undefined) found.push({ ...same, from: same.from });
    else if (isAsked || holders.includes(order.domainId) || order.decision.to === 'active')
      return { kind: 'conflict' };
  }
  const holding = await loadHolders(trx, nameText);
  const isHeldAsBefore = holding.length === holders.length && holding.every((id) => holders.includes(id));
  return isHeldAsBefore ? { kind: 'same', found } : { kind: 'conflict' };
}

/** Without `from` the claim is another than before. */
async function findSame(trx: Database, order: CheckOrder, lock: DomainLock) {
  const last = await loadLast(trx, order);
  const isSame = last.seq === order.seq && isAccepted(lock, order);
  return { order, lock, last, from: isSame ? checkedStatusOf(lock.row) : undefined };
}

/** Whether the set that proves the domain still does: the accepted sets may have changed since the check began. */
function isAccepted({ row, settings }: DomainLock, { decision, judgement, setsAfter }: CheckOrder): boolean {
  if (decision.to !== 'active' || judgement.matched === undefined || setsAfter !== undefined) return true;
  return findSet(judgement.matched, provingSets(row, settings)) !== undefined;
}

/** Locks the row too, since `saveStillChecks` may be saving another check without the domain's lock. */
async function loadLast(trx: Database, { domainId, request }: CheckOrder): Promise<Last> {
  const { rows } = await sql<Last>`
    select seq, last_run_id as "lastRunId", last_outcome as "lastOutcome",
      (select r.id from check_runs r where r.request = ${request ?? null}::uuid) as "sameRequest"
    from domain_checks where domain_id = ${domainId} for no key update`.execute(trx);
  return rows[0] as Last;
}

async function loadHolders(trx: Database, nameText: string): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from domains
    where name = ${nameText} and deleted_at is null and (leaving or status in ('active', 'moved'))`.execute(
    trx,
  );
  return rows.map(({ id }) => id);
}
