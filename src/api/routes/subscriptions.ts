// Lists the plans, the features of a domain's plan (for all its members) and its subscriptions (for the owner).

import { z } from 'zod';
import { listPlans } from '../../store/accounts/plans.ts';
import { listSubscriptions, loadSubscription, ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { countRulesByType } from '../../store/rules/load-rules.ts';
import { knownTraffic } from '../analytics/known-traffic.ts';
import { domain, type Route, route, session } from '../calls/route.ts';
import {
  printCataloguePlan,
  printEntitlements,
  printSubscription,
  withoutPrices,
} from '../print/print-plan.ts';
import { idText } from '../schemas/fields.ts';
import { CataloguePlan, Entitlements, Subscription } from '../schemas/plan.ts';

const getPlans = route(session(), {
  method: 'GET',
  path: '/billing/plans',
  operationId: 'getPlans',
  tag: 'Plans',
  summary: 'Lists the plans and their prices.',
  description: 'Clients of a reseller do not see prices.',
  response: z.array(CataloguePlan),
  async run({ api, caller }) {
    const plans = (await listPlans(api.db)).map(printCataloguePlan);
    return caller.account.providerId === null ? plans : withoutPrices(plans);
  },
});

const getFeatures = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/features',
  operationId: 'getFeatures',
  tag: 'Plans',
  summary: "Returns the features and limits of a domain's plan, and their usage.",
  response: Entitlements,
  async run({ api, domain }) {
    const subscriptions = await ownSubscriptions(api.db, [domain.id]);
    const rules = await countRulesByType(api.db, domain.id);
    const subscription = subscriptions.get(domain.id);
    const now = new Date();
    const traffic = await knownTraffic(api, domain.id, subscription, now);
    return printEntitlements(domain, subscription, rules, now, traffic?.octets);
  },
});

const getSubscriptions = route(domain('billing'), {
  method: 'GET',
  path: '/domains/{domain}/subscriptions',
  operationId: 'getSubscriptions',
  tag: 'Plans',
  summary: 'Lists the subscriptions of a domain, newest first.',
  description: 'Only for the owner.',
  response: z.array(Subscription),
  async run({ api, domain }) {
    const subscriptions = await listSubscriptions(api.db, domain.id);
    return subscriptions.map((subscription) => printSubscription(subscription, domain));
  },
});

const getSubscription = route(domain('billing'), {
  method: 'GET',
  path: '/domains/{domain}/subscriptions/{id}',
  operationId: 'getSubscription',
  tag: 'Plans',
  summary: 'Returns a subscription of a domain.',
  description: 'Only for the owner.',
  params: z.object({ id: idText }),
  find: ({ api, domain, params }) => loadSubscription(api.db, domain.id, params.id),
  finds: 'subscription',
  response: Subscription,
  run: ({ domain, found }) => printSubscription(found, domain),
});

export const SUBSCRIPTION_ROUTES: readonly Route[] = [
  getPlans,
  getFeatures,
  getSubscriptions,
  getSubscription,
];
