// A subscription as its owner sees it.

import type { z } from 'zod';
import type { Subscription as StoredSubscription } from '../../store/accounts/subscriptions.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Subscription } from '../schemas/subscription.ts';
import { moments } from './moments.ts';
import { printPlan, printTerm } from './print-plan.ts';
import { withoutPrices } from './without-prices.ts';

export function printSubscription(
  subscription: StoredSubscription,
  { name }: Pick<Domain, 'name'>,
): z.input<typeof Subscription> {
  const { plan, term, expiresAt, graceUntil } = subscription;
  const printed: z.input<typeof Subscription> = {
    id: subscription.id,
    user_id: subscription.accountId,
    domain_id: subscription.domainId,
    domain_name: printWithoutDot(name),
    plan_id: plan.id,
    plan: printPlan(plan),
    ...(term !== null && { plan_term_id: term.id, plan_term: printTerm(term) }),
    status: subscription.status,
    started_at: subscription.startedAt.toISOString(),
    ...moments({ expires_at: expiresAt, grace_until: graceUntil }),
    auto_renew: subscription.autoRenew,
    quota_reset_days: subscription.quotaResetDays,
    is_trial: subscription.isTrial,
  };
  return subscription.isManaged ? withoutPrices(printed) : printed;
}
