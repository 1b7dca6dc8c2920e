// Compares the claims of a name with those at the start of its check, under the locks of the name. The claim that was
// checked, and the claims that hold or get the name, must be unchanged. Other waiting claims that have changed are
// ignored; otherwise a client that keeps creating and deleting claims could block every result for the name. Ignoring
// them favors no claim, because each is evaluated more strictly if there are more of them.

import { sql } from 'kysely';
import type { CheckedStatus } from '../../checks/delegation/check-state.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import { type DomainLock, lockDomain } from '../change/lock-domain.ts';
import { provingSets } from '../domains/nameserver-sets.ts';
import type { Database } from '../postgres/database.ts';
import type { CheckOrder } from './check-outcome.ts';
import { checkedStatusOf } from './checked-claims.ts';
import type { LastRun } from './save-run.ts';

/** The state when the check started. The claim that was checked comes first. */
interface Began {
  readonly nameText: string;
  readonly orders: readonly CheckOrder[];
  /** The domains that held the name. */
  readonly holders: readonly number[];
}

type Compared =
  /** With the unchanged claims, in the order of their ids. */
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

/** `from` is undefined if the claim has changed. */
async function findSame(trx: Database, order: CheckOrder, lock: DomainLock) {
  const last = await loadLast(trx, order);
  const isSame = last.seq === order.seq && isAccepted(lock, order);
  return { order, lock, last, from: isSame ? checkedStatusOf(lock.row) : undefined };
}

/** Returns true if the set still proves the domain: the accepted sets may have changed since the check started. */
function isAccepted({ row, settings }: DomainLock, { decision, judgement, setsAfter }: CheckOrder): boolean {
  if (decision.to !== 'active' || judgement.matched === undefined || setsAfter !== undefined) return true;
  return findSet(judgement.matched, provingSets(row, settings)) !== undefined;
}

/** Also locks the row, because `saveStillChecks` may be saving another check without the domain's lock. */
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
