// Sets a domain's plan, term, overrides and renewal for operators. Records and settings that exceed a new limit stay.

import { judgeEntitlement, type Overrides } from '../../billing/entitlements.ts';
import { findPlan, unknownPlan } from '../accounts/plans.ts';
import {
  ownSubscriptions,
  type Subscription,
  saveSubscription,
  startSubscription,
  stopSubscription,
} from '../accounts/subscriptions.ts';
import type { Domain } from '../domains/domain.ts';
import { loadDomainById } from '../domains/load-domains.ts';
import type { Database } from '../postgres/database.ts';
import { announceAfterCommit, inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { isGone, lockDomain } from './lock-domain.ts';

export interface PlanOrder {
  readonly domainId: number;
  /** The account that must still own the domain. If undefined, any account. */
  readonly ownerId?: number;
  /** Null for no active plan. Defaults to the domain's plan. */
  readonly planSlug?: string | null;
  /** Starts a new subscription with this term, even if the plan stays the same. */
  readonly termId?: number;
  /** Replaces all overrides; null removes them. If undefined, they stay, or are removed with a new plan. */
  readonly overrides?: Overrides | null;
  readonly autoRenew?: boolean;
  /** Defaults to now. */
  readonly at?: Date;
}

type PlanRefusal = 'unknown_plan' | 'unknown_term' | 'wrong_overrides' | 'not_renewable' | 'no_end';
export type SetPlan =
  | {
      readonly kind: 'updated';
      /** False if nothing changed and nothing was written. */
      readonly isChanged: boolean;
      readonly domain: Domain;
      readonly subscription: Subscription | undefined;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly code: PlanRefusal; readonly message: string };

export async function setPlan(db: Database, order: PlanOrder): Promise<SetPlan> {
  const { domainId, overrides = null } = order;
  const wrong = Object.entries(overrides ?? {}).flatMap(([name, value]) => {
    const fault = judgeEntitlement(name, value);
    return fault === undefined ? [] : [`overrides: ${name}: ${fault}`];
  });
  if (wrong[0] !== undefined) return refused('wrong_overrides', wrong[0]);
  return await inTransaction<SetPlan>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    // Checked under the lock, because workers may have ended a subscription since the caller loaded it.
    const { at = lock.now, planSlug = lock.row.plan?.slug ?? null } = order;
    const planId = await findPlan(trx, planSlug);
    if (planId === undefined) return refused('unknown_plan', unknownPlan(planSlug));
    if (planId === null) {
      if (order.termId !== undefined || order.overrides || order.autoRenew !== undefined) {
        return refused('unknown_plan', 'a term, overrides and renewal require a plan');
      }
      if (lock.row.plan === null) return await updated(trx, domainId, false);
      await stopSubscription(trx, domainId, at);
    } else {
      const own = (await ownSubscriptions(trx, [domainId])).get(domainId);
      const goesOn = own !== undefined && own.plan.id === planId && order.termId === undefined;
      const { autoRenew = own?.autoRenew } = order;
      if (goesOn && order.overrides === undefined && autoRenew === own.autoRenew) {
        return await updated(trx, domainId, false);
      }
      if (goesOn) await changeOwn(trx, own, order, at);
      else await begin(trx, lock.row.accountId, planId, { ...order, planSlug, at });
    }
    const after = (await ownSubscriptions(trx, [domainId])).get(domainId);
    const stored = after?.overrides ?? null;
    await trx
      .updateTable('domains')
      .set({
        plan_id: planId,
        plan_overrides: stored === null ? null : JSON.stringify(stored),
        updated_at: lock.now,
      })
      .where('id', '=', domainId)
      .execute();
    announceAfterCommit(trx); // for edges, which receive `ws_enabled`
    return await updated(trx, domainId);
  });
}

async function begin(
  trx: Database,
  accountId: number,
  planId: number,
  { domainId, planSlug, termId, overrides, autoRenew, at }: PlanOrder & { readonly at: Date },
): Promise<void> {
  await stopSubscription(trx, domainId, at);
  const isBegun = await startSubscription(trx, {
    domainId,
    accountId,
    planId,
    at,
    ...(termId !== undefined && { termId }),
    ...(autoRenew !== undefined && { autoRenew }),
    overrides: overrides ?? null,
  });
  if (!isBegun) rollBackTo(refused('unknown_term', `the plan "${planSlug}" has no term ${termId} on sale`));
  if (autoRenew !== true) return;
  const own = (await ownSubscriptions(trx, [domainId])).get(domainId);
  if (own?.autoRenew !== true) rollBackTo(NOT_RENEWABLE);
}

async function changeOwn(
  trx: Database,
  own: Subscription,
  { overrides, autoRenew }: PlanOrder,
  at: Date,
): Promise<void> {
  if (overrides !== undefined) {
    const columns = { overrides: overrides === null ? null : JSON.stringify(overrides) };
    await trx.updateTable('subscriptions').set(columns).where('id', '=', own.id).execute();
  }
  if (autoRenew === undefined || autoRenew === own.autoRenew) return;
  if (own.term === null || own.isTrial) rollBackTo(NOT_RENEWABLE);
  // Enabling renewal reverts a cancellation.
  const status = autoRenew && own.status === 'cancelled' ? 'active' : own.status;
  await saveSubscription(trx, own.id, { ...own, status, autoRenew }, at);
}

/** Lets the subscription expire at its end, without a grace period. */
export async function cancelSubscription(
  db: Database,
  { domainId, at }: Pick<PlanOrder, 'domainId' | 'at'>,
): Promise<SetPlan> {
  return await inTransaction<SetPlan>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const own = (await ownSubscriptions(trx, [domainId])).get(domainId);
    if (own === undefined || own.expiresAt === null) {
      return refused('no_end', 'the subscription has no end: set another plan instead');
    }
    if (own.status === 'grace')
      return refused('no_end', 'the subscription is in its grace period, and ends with it');
    await saveSubscription(trx, own.id, { ...own, status: 'cancelled', autoRenew: false }, at ?? lock.now);
    return await updated(trx, domainId);
  });
}

const NOT_RENEWABLE = refused('not_renewable', 'the subscription has no term that could be renewed');

function refused(code: PlanRefusal, message: string): Extract<SetPlan, { kind: 'refused' }> {
  return { kind: 'refused', code, message };
}

async function updated(trx: Database, domainId: number, isChanged = true): Promise<SetPlan> {
  const domain = (await loadDomainById(trx, domainId)) as Domain;
  return {
    kind: 'updated',
    isChanged,
    domain,
    subscription: (await ownSubscriptions(trx, [domainId])).get(domainId),
  };
}
