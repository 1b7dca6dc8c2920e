// Routes to buy plans for a domain (docs/api.md "Plans").

import type { z } from 'zod';
import { invalid, notFound, Problem, problem } from '../../api/answers/problem.ts';
import type { Api, CallOf } from '../../api/calls/call.ts';
import { domain, route } from '../../api/calls/route.ts';
import { printSubscription } from '../../api/print/print-plan.ts';
import { Subscription } from '../../api/schemas/plan.ts';
import type { BuyKind } from '../../billing/buy-term.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { toldSubscription } from '../../store/audit/audit-notes.ts';
import { setPlan } from '../../store/change/set-plan.ts';
import { AutoRenew, SubscriptionPurchase, SubscriptionSwitch } from './schema.ts';
import { type Bought, buyTerm } from './sql-buy.ts';
import type { Charging } from './sql-charge.ts';

export function chargingOf({ maxNegativeRials = 0, payments: { seller } }: Api): Charging {
  return { maxNegativeRials, seller };
}

const common = {
  method: 'POST',
  audit: 'domain.plan',
  tag: 'Plans',
  response: Subscription,
} as const;

const UNLESS =
  'If the balance of the wallet is too low, the response is a 402 and nothing is written. If the domain uses more than the plan allows, it is a 409 whose `above` lists the exceeded limits.';

export const purchaseSubscription = route(domain('billing'), {
  ...common,
  path: '/domains/{domain}/subscriptions/purchase',
  // It charges the owner's wallet: resellers buy services instead.
  forResellers: false,
  operationId: 'purchaseSubscription',
  summary: 'Buys a term of a plan for a domain.',
  description: `The term begins now if no paid time is left. In the grace period, it begins at the end of the old term. ${UNLESS}`,
  body: SubscriptionPurchase,
  problems: ['wrong_state', 'credit_limit_reached'],
  statuses: [402, 409],
  run: (call) => buy(call, 'purchase', { termId: call.body.plan_term_id, autoRenew: call.body.auto_renew }),
});

export const switchSubscription = route(domain('billing'), {
  ...common,
  path: '/domains/{domain}/subscriptions/switch',
  // It charges the owner's wallet: resellers buy services instead.
  forResellers: false,
  operationId: 'switchSubscription',
  summary: 'Switches the paid subscription of a domain to another term.',
  description: `The unused paid time is credited to the wallet, rounded down, and the share that a reseller paid is credited to the reseller's wallet. Then the new term is bought, which begins now. ${UNLESS}`,
  body: SubscriptionSwitch,
  problems: ['wrong_state', 'credit_limit_reached'],
  statuses: [402, 409],
  run: (call) => buy(call, 'switch', { termId: call.body.plan_term_id }),
});

export const setAutoRenew = route(domain('billing'), {
  ...common,
  path: '/domains/{domain}/subscriptions/auto-renew',
  operationId: 'setAutoRenew',
  summary: 'Sets whether the subscription of a domain renews.',
  description: 'If a cancelled subscription is set to renew, it is no longer cancelled.',
  body: AutoRenew,
  problems: ['wrong_state'],
  async run({ api, domain, body, audit }) {
    const before = (await ownSubscriptions(api.db, [domain.id])).get(domain.id);
    if (before === undefined) return problem('wrong_state', 'the domain has no subscription');
    const order = { domainId: domain.id, ownerId: domain.accountId, autoRenew: body.auto_renew };
    const came = await setPlan(api.db, order);
    if (came.kind === 'absent' || (came.kind === 'updated' && came.subscription === undefined))
      return notFound('domain');
    if (came.kind === 'refused') return problem('wrong_state', came.message);
    const { subscription = before } = came;
    audit(
      came.isChanged
        ? { before: toldSubscription(before), after: toldSubscription(subscription) }
        : undefined,
    );
    return printSubscription(subscription, domain);
  },
});

type BuyCall = CallOf<'domain'>;

async function buy(
  { api, domain, audit }: BuyCall,
  kind: BuyKind,
  order: { readonly termId: number; readonly autoRenew?: boolean | undefined },
): Promise<z.input<typeof Subscription> | Problem> {
  const about = { domainId: domain.id, ownerId: domain.accountId };
  const bought = await buyTerm(api.db, { kind, ...about, ...order, ...chargingOf(api) });
  if (bought.kind !== 'bought') return buyingProblem(bought);
  const { before, subscription } = bought;
  audit({ before: toldSubscription(before), after: toldSubscription(subscription) });
  return printSubscription(subscription, domain);
}

/** Returns the problem for a purchase that failed. */
export function buyingProblem(bought: Exclude<Bought, { kind: 'bought' }>): Problem {
  switch (bought.kind) {
    case 'absent':
      return notFound('domain');
    case 'unknown_term':
      return invalid([{ field: 'plan_term_id', error: bought.message }]);
    case 'short':
      return new Problem(402, bought.message);
    case 'credit_limit':
      return problem('credit_limit_reached', bought.message);
    case 'above_limits':
      return new Problem(409, bought.message, { members: { above: bought.above } });
    case 'wrong_state':
      return problem('wrong_state', bought.message);
  }
}
