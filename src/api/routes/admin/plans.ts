// /admin/plans: manages plans and terms. They are never deleted, because subscriptions refer to them. Also sets and
// cancels the subscription of a domain.

import { z } from 'zod';
import { keyOf, type Overrides } from '../../../billing/entitlements.ts';
import {
  addTerm,
  type CataloguePlan,
  createPlan,
  listPlans,
  type PlanChange,
  retireTerm,
  updatePlan,
} from '../../../store/accounts/plans.ts';
import { ownSubscriptions } from '../../../store/accounts/subscriptions.ts';
import { toldPlan, toldSubscription } from '../../../store/audit/audit-notes.ts';
import type { AuditNote } from '../../../store/audit/write-audit.ts';
import { cancelSubscription, type SetPlan, setPlan } from '../../../store/change/set-plan.ts';
import type { Domain } from '../../../store/domains/domain.ts';
import { invalid, notFound, Problem, problem } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, type Route, route } from '../../calls/route.ts';
import { printAdminDomain } from '../../print/print-domain.ts';
import { printPlan, printTerm } from '../../print/print-plan.ts';
import { AdminDomain, SubscriptionChange } from '../../schemas/admin/domain.ts';
import { idText } from '../../schemas/fields.ts';
import { AdminPlan, NewPlan, NewTerm, PlanUpdate } from '../../schemas/plan.ts';
import { about, oneDomain } from './domains.ts';

const tag = 'Plans';

function print(plan: CataloguePlan): z.input<typeof AdminPlan> {
  const { maxDomains, maxClaims, quotaResetDays, terms } = plan;
  return {
    ...printPlan(plan),
    max_domains: maxDomains,
    max_claims: maxClaims,
    quota_reset_days: quotaResetDays,
    terms: terms.map((term) => ({
      ...printTerm(term),
      price_rials: term.priceRials,
      retired: term.isRetired,
    })),
  };
}

const OTHERS: Readonly<Record<string, string>> = {
  name: 'name',
  max_domains: 'maxDomains',
  max_claims: 'maxClaims',
  quota_reset_days: 'quotaResetDays',
};

function changeOf(body: Readonly<Record<string, unknown>>): PlanChange {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const key = OTHERS[name] ?? keyOf(name);
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
}

const getPlans = route(admin, {
  method: 'GET',
  path: '/admin/plans',
  operationId: 'adminGetPlans',
  tag,
  summary: 'Lists the plans with all their terms, including those withdrawn from sale.',
  response: z.array(AdminPlan),
  run: async ({ api }) => (await listPlans(api.db)).map(print),
});

const makePlan = route(admin, {
  method: 'POST',
  path: '/admin/plans',
  operationId: 'adminCreatePlan',
  tag,
  summary: 'Creates a plan.',
  audit: 'plan.create',
  body: NewPlan,
  response: AdminPlan,
  async run({ api, body, audit }) {
    const { slug, name, ...fields } = body;
    const plan = await createPlan(api.db, slug, { ...changeOf(fields), name });
    if (plan === undefined) return new Problem(409, `a plan "${slug}" already exists`);
    audit(noteOn(plan, { after: toldPlan(plan) }));
    return print(plan);
  },
});

const onePlan = {
  params: z.object({ slug: z.string().max(40) }),
  async find({ api, params }: CallOf<'admin', { slug: string }>) {
    return (await listPlans(api.db)).find(({ slug }) => slug === params.slug);
  },
  finds: 'plan',
};

const changePlan = route(admin, {
  method: 'PATCH',
  path: '/admin/plans/{slug}',
  operationId: 'adminUpdatePlan',
  tag,
  summary: 'Changes a plan for all domains that have it.',
  description: 'If a limit is lowered, domains keep what they already have beyond it.',
  audit: 'plan.update',
  ...onePlan,
  body: PlanUpdate,
  response: AdminPlan,
  async run({ api, found, body, audit }) {
    const plan = await updatePlan(api.db, found.slug, changeOf(body));
    if (plan === undefined) return notFound('plan');
    const sides = { before: toldPlan(found), after: toldPlan(plan) };
    const isSame = JSON.stringify(sides.before) === JSON.stringify(sides.after);
    audit(isSame ? undefined : noteOn(plan, sides));
    return print(plan);
  },
});

const makeTerm = route(admin, {
  method: 'POST',
  path: '/admin/plans/{slug}/terms',
  operationId: 'adminAddTerm',
  tag,
  summary: 'Adds a term to a plan.',
  description: 'Terms cannot be changed: retire the term and add another one.',
  audit: 'plan.add_term',
  ...onePlan,
  body: NewTerm,
  response: AdminPlan,
  async run({ api, found, body, audit }) {
    const { billing_duration_days: days, price_rials: priceRials } = body;
    const plan = await addTerm(api.db, found.slug, { days, priceRials });
    if (plan === undefined) return notFound('plan');
    audit(noteOn(plan, { after: body }));
    return print(plan);
  },
});

const endTerm = route(admin, {
  method: 'DELETE',
  path: '/admin/plans/{slug}/terms/{id}',
  operationId: 'adminRetireTerm',
  tag,
  summary: 'Withdraws a term from sale. Existing subscriptions keep it and renew.',
  audit: 'plan.retire_term',
  ...onePlan,
  params: z.object({ slug: z.string().max(40), id: idText }),
  response: AdminPlan,
  async run({ api, found, params, audit }) {
    const before = found.terms.find(({ id }) => id === params.id);
    const plan = before && (await retireTerm(api.db, found.slug, params.id));
    if (before === undefined || plan === undefined) return notFound('term');
    audit(before.isRetired ? undefined : noteOn(plan, { before: { term: params.id } }));
    return print(plan);
  },
});

function noteOn({ id, slug }: CataloguePlan, sides: Pick<AuditNote, 'before' | 'after'>): AuditNote {
  return { target: { id, name: slug }, ...sides };
}

type SubscriptionCall = CallOf<'admin', { id: number }, unknown, unknown, Domain>;

const common = {
  path: '/admin/domains/{id}/subscription',
  tag: 'Domains',
  audit: 'domain.plan',
  ...oneDomain,
  response: AdminDomain,
} as const;

const setSubscription = route(admin, {
  ...common,
  method: 'PUT',
  operationId: 'adminSetSubscription',
  summary: 'Sets the plan of a domain, its term, its overrides, and whether it is renewed.',
  description:
    'Fields that are left out stay unchanged. Records and settings beyond a new limit stay. Nothing is charged or refunded.',
  body: SubscriptionChange,
  async run(call) {
    const { api, found, body } = call;
    const { plan, plan_term_id: termId, overrides, auto_renew: autoRenew } = body;
    const isEmpty = overrides != null && Object.keys(overrides).length === 0;
    return await auditPlan(call, () =>
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

const endSubscription = route(admin, {
  ...common,
  method: 'DELETE',
  operationId: 'adminCancelSubscription',
  summary: 'Cancels the subscription of a domain: it ends at the end of its term, without a grace period.',
  problems: ['wrong_state'],
  run: (call) => auditPlan(call, () => cancelSubscription(call.api.db, { domainId: call.found.id })),
});

const FIELDS = {
  unknown_plan: 'plan',
  unknown_term: 'plan_term_id',
  wrong_overrides: 'overrides',
  not_renewable: 'auto_renew',
} as const;

async function auditPlan(
  { api, found, audit }: SubscriptionCall,
  set: () => Promise<SetPlan>,
): Promise<Awaited<ReturnType<typeof printAdminDomain>> | Problem> {
  const before = (await ownSubscriptions(api.db, [found.id])).get(found.id);
  const result = await set();
  if (result.kind === 'absent') return notFound('domain');
  if (result.kind === 'refused') {
    const { code, message } = result;
    if (code === 'no_end') return problem('wrong_state', message);
    return invalid([{ field: FIELDS[code], error: message }]);
  }
  const sides = { before: toldSubscription(before), after: toldSubscription(result.subscription) };
  audit(result.isChanged ? { ...about(found), ...sides } : undefined);
  return await printAdminDomain(api.db, result.domain, api);
}

export const ADMIN_PLAN_ROUTES: readonly Route[] = [
  getPlans,
  makePlan,
  changePlan,
  makeTerm,
  endTerm,
  setSubscription,
  endSubscription,
];
