// Plans, their terms and what they include, as JSON.

import type { z } from 'zod';
import { ENTITLEMENTS, type Entitlements } from '../../billing/entitlements.ts';
import type { Term } from '../../billing/subscription.ts';
import type { CataloguePlan, Plan as StoredPlan } from '../../store/accounts/plans.ts';
import type { PlanFeatures } from '../schemas/entitlements.ts';
import type { Plan, PlanTerm, CataloguePlan as ShownPlan } from '../schemas/plan.ts';

export function printFeatures(entitlements: Entitlements): z.input<typeof PlanFeatures> {
  const named = Object.entries(ENTITLEMENTS).map(([key, { name }]) => [
    name,
    entitlements[key as keyof Entitlements],
  ]);
  return Object.fromEntries(named) as z.input<typeof PlanFeatures>;
}

export function printPlan(plan: StoredPlan): z.input<typeof Plan> {
  return { id: plan.id, name: plan.name, slug: plan.slug, ...printFeatures(plan) };
}

export function printTerm({ id, days, priceRials }: Term): z.input<typeof PlanTerm> {
  return { id, billing_duration_days: days, price_rials: priceRials };
}

/** A plan with the terms that are sold. */
export function printCataloguePlan(plan: CataloguePlan): z.input<typeof ShownPlan> {
  const sold = plan.terms.filter(({ isRetired }) => !isRetired);
  return { ...printPlan(plan), quota_reset_days: plan.quotaResetDays, terms: sold.map(printTerm) };
}
