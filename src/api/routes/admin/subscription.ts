// PUT and DELETE /admin/domains/{id}/subscription: set or cancel the plan of a domain, with its term and overrides.

import type { Overrides } from '../../../billing/entitlements.ts';
import { ownSubscriptions } from '../../../store/accounts/subscriptions.ts';
import { toldSubscription } from '../../../store/audit/told-fields.ts';
import { cancelSubscription, type SetPlan, setPlan } from '../../../store/change/set-plan.ts';
import type { Domain } from '../../../store/domains/domain.ts';
import { invalid, notFound, type Problem, problem } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, route } from '../../calls/route.ts';
import { printAdminDomain } from '../../print/print-admin-domain.ts';
import { AdminDomain, SubscriptionChange } from '../../schemas/admin/domain.ts';
import { about, oneDomain } from './domains.ts';

type SubscriptionCall = CallOf<'admin', { id: number }, unknown, unknown, Domain>;

const common = {
  path: '/admin/domains/{id}/subscription',
  tag: 'Domains',
  audit: 'domain.plan',
  ...oneDomain,
  response: AdminDomain,
} as const;

export const setSubscription = route(admin, {
  ...common,
  method: 'PUT',
  operationId: 'adminSetSubscription',
  summary: 'Set the plan of a domain, its term, what is overridden, and whether it is renewed.',
  description: 'What is left out stays. Records and settings beyond a new limit stay. No money moves.',
  body: SubscriptionChange,
  async run(call) {
    const { api, found, body } = call;
    const { plan, plan_term_id: termId, overrides, auto_renew: autoRenew } = body;
    const isEmpty = overrides != null && Object.keys(overrides).length === 0;
    return await tellPlan(call, () =>
      setPlan(api.db, {
        domainId: found.id,
        ...(plan !== undefined && { planSlug: plan }),
        ...(termId !== undefined && { termId }),
        ...(overrides !== undefined && { overrides: isEmpty ? null : (overrides as Overrides | null) }),
        ...(autoRenew !== undefined && { autoRenew }),
      }),
    );
  },
});

export const endSubscription = route(admin, {
  ...common,
  method: 'DELETE',
  operationId: 'adminCancelSubscription',
  summary: 'Let the subscription of a domain run out at its end, without grace.',
  problems: ['wrong_state'],
  run: (call) => tellPlan(call, () => cancelSubscription(call.api.db, { domainId: call.found.id })),
});

const FIELDS = {
  unknown_plan: 'plan',
  unknown_term: 'plan_term_id',
  wrong_overrides: 'overrides',
  not_renewable: 'auto_renew',
} as const;

async function tellPlan(
  { api, found, audit }: SubscriptionCall,
  set: () => Promise<SetPlan>,
): Promise<Awaited<ReturnType<typeof printAdminDomain>> | Problem> {
  const before = (await ownSubscriptions(api.db, [found.id])).get(found.id);
  const came = await set();
  if (came.kind === 'absent') return notFound('domain');
  if (came.kind === 'refused') {
    const { code, message } = came;
    if (code === 'no_end') return problem('wrong_state', message);
    return invalid([{ field: FIELDS[code], error: message }]);
  }
  const told = { before: toldSubscription(before), after: toldSubscription(came.subscription) };
  audit(came.isChanged ? { ...about(found), ...told } : undefined);
  return await printAdminDomain(api.db, came.domain, api);
}
