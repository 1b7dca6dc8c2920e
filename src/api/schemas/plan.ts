// Plans and their terms. An account that a reseller manages sees no prices.

import { z } from 'zod';
import { PlanFeatures } from './entitlements.ts';
import { Id } from './ids.ts';

export const Plan = z
  .object({ id: Id, name: z.string(), slug: z.string(), ...PlanFeatures.shape })
  .meta({ id: 'Plan' });

export const PlanTerm = z
  .object({
    id: Id,
    billing_duration_days: z.int().min(1),
    price_rials: z
      .int()
      .min(0)
      .optional()
      .describe('Absent where a reseller manages the account: the price is not told.'),
  })
  .meta({ id: 'PlanTerm' });

export const CataloguePlan = z
  .object({
    ...Plan.shape,
    quota_reset_days: z.int().min(0).describe('After so many days the traffic counts anew; 0: never.'),
    terms: z.array(PlanTerm).describe('What can be bought. A plan without terms is given by the operator.'),
  })
  .meta({ id: 'CataloguePlan' });
