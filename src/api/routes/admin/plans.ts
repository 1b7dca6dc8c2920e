// /admin/plans: manages plans and terms. They are never deleted, because subscriptions refer to them.

import { z } from 'zod';
import { keyOf } from '../../../billing/entitlements.ts';
import {
  addTerm,
  type CataloguePlan,
  createPlan,
  listPlans,
  type PlanChange,
  retireTerm,
  updatePlan,
} from '../../../store/accounts/plans.ts';
import { toldPlan } from '../../../store/audit/told-fields.ts';
import type { AuditNote } from '../../../store/audit/write-audit.ts';
import { notFound, Problem } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, route } from '../../calls/route.ts';
import { printPlan, printTerm } from '../../print/print-plan.ts';
import { AdminPlan, NewPlan, NewTerm, PlanUpdate } from '../../schemas/admin/plan.ts';
import { idText } from '../../schemas/ids.ts';

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

export const getPlans = route(admin, {
  method: 'GET',
  path: '/admin/plans',
  operationId: 'adminGetPlans',
  tag,
  summary: 'The plans with all their terms, including those withdrawn from sale.',
  response: z.array(AdminPlan),
  run: async ({ api }) => (await listPlans(api.db)).map(print),
});

export const makePlan = route(admin, {
  method: 'POST',
  path: '/admin/plans',
  operationId: 'adminCreatePlan',
  tag,
  summary: 'Make a plan.',
  audit: 'plan.create',
  body: NewPlan,
  response: AdminPlan,
  async run({ api, body, audit }) {
    const { slug, name, ...fields } = body;
    const plan = await createPlan(api.db, slug, { ...changeOf(fields), name });
    if (plan === undefined) return new Problem(409, `there is a plan "${slug}" already`);
    audit(about(plan, { after: toldPlan(plan) }));
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

export const changePlan = route(admin, {
  method: 'PATCH',
  path: '/admin/plans/{slug}',
  operationId: 'adminUpdatePlan',
  tag,
  summary: 'Change a plan, for all domains that have it.',
  description: 'What domains have beyond a lower limit stays.',
  audit: 'plan.update',
  ...onePlan,
  body: PlanUpdate,
  response: AdminPlan,
  async run({ api, found, body, audit }) {
    const plan = await updatePlan(api.db, found.slug, changeOf(body));
    if (plan === undefined) return notFound('plan');
    const sides = { before: toldPlan(found), after: toldPlan(plan) };
    const isSame = JSON.stringify(sides.before) === JSON.stringify(sides.after);
    audit(isSame ? undefined : about(plan, sides));
    return print(plan);
  },
});

export const makeTerm = route(admin, {
  method: 'POST',
  path: '/admin/plans/{slug}/terms',
  operationId: 'adminAddTerm',
  tag,
  summary: 'Add a term to a plan.',
  description: 'A term is never changed: retire it and add another.',
  audit: 'plan.add_term',
  ...onePlan,
  body: NewTerm,
  response: AdminPlan,
  async run({ api, found, body, audit }) {
    const { billing_duration_days: days, price_rials: priceRials } = body;
    const plan = await addTerm(api.db, found.slug, { days, priceRials });
    if (plan === undefined) return notFound('plan');
    audit(about(plan, { after: body }));
    return print(plan);
  },
});

export const endTerm = route(admin, {
  method: 'DELETE',
  path: '/admin/plans/{slug}/terms/{id}',
  operationId: 'adminRetireTerm',
  tag,
  summary: 'Withdraw a term from sale. Existing subscriptions keep it and renew.',
  audit: 'plan.retire_term',
  ...onePlan,
  params: z.object({ slug: z.string().max(40), id: idText }),
  response: AdminPlan,
  async run({ api, found, params, audit }) {
    const before = found.terms.find(({ id }) => id === params.id);
    const plan = before && (await retireTerm(api.db, found.slug, params.id));
    if (before === undefined || plan === undefined) return notFound('term');
    audit(before.isRetired ? undefined : about(plan, { before: { term: params.id } }));
    return print(plan);
  },
});

function about({ id, slug }: CataloguePlan, told: Pick<AuditNote, 'before' | 'after'>): AuditNote {
  return { target: { id, name: slug }, ...told };
}
