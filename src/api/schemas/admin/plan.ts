// Plans as global admins see and set them: with terms that are sold no more, and what no customer is shown.

import { z } from 'zod';
import { PlanFeatures } from '../entitlements.ts';
import { nameText } from '../name-text.ts';
import { Plan, PlanTerm } from '../plan.ts';

const limit = z.int().min(0).max(2_147_483_647);

const OTHERS = {
  max_domains: limit.nullable().describe('Of an account whose plan it is; null: no limit.'),
  max_claims: limit.nullable().describe('Of these so many may wait to be proved; null: no limit.'),
  quota_reset_days: limit.describe('After so many days the traffic counts anew; 0: never.'),
};

export const AdminPlan = z
  .object({
    ...Plan.shape,
    ...OTHERS,
    terms: z.array(PlanTerm.extend({ price_rials: z.int().min(0), retired: z.boolean() })),
  })
  .meta({ id: 'AdminPlan' });

const features = Object.fromEntries(
  Object.entries(PlanFeatures.shape).map(([name, schema]) => [
    name,
    schema instanceof z.ZodBoolean ? z.boolean().optional() : sized(schema).optional(),
  ]),
) as { readonly [name in keyof typeof PlanFeatures.shape]: z.ZodOptional<z.ZodType> };

function sized(schema: z.ZodType): z.ZodType {
  return schema.safeParse(null).success ? limit.nullable() : limit;
}

const name = nameText(100);
const fields = { ...features, ...z.object(OTHERS).partial().shape };

export const NewPlan = z
  .strictObject({
    slug: z
      .string()
      .regex(/^(?!none$)[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens, and not `none`'),
    name,
    ...fields,
  })
  .describe('What is left out is not included.')
  .meta({ id: 'NewPlan' });

export const PlanUpdate = z.strictObject({ name: name.optional(), ...fields }).meta({ id: 'PlanUpdate' });

export const NewTerm = z
  .strictObject({
    billing_duration_days: z.int().min(1).max(3660),
    price_rials: z.int().min(0).max(9_000_000_000_000_000),
  })
  .meta({ id: 'NewTerm' });
