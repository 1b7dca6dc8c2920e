// Domains of all accounts, as global admins see and set them.

import { z } from 'zod';
import { ENTITLEMENTS } from '../../../billing/entitlements.ts';
import { Domain } from '../domain.ts';
import { Id } from '../ids.ts';
import { Subscription } from '../subscription.ts';
import { Timestamp } from '../timestamp.ts';

export const AdminDomain = z
  .object({
    ...Domain.shape,
    user_email: z.string().describe('Of its owner.'),
    subscription: Subscription.optional().describe('The one that has not ended.'),
    overrides: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What its subscription has instead of its plan.'),
    suspended_by: z
      .array(z.enum(['operator', 'debt']))
      .describe('By hand, or since the wallet that pays for it is below zero: that ends by itself.'),
    deleted_at: Timestamp.optional().describe('It can be restored for 30 days.'),
  })
  .meta({ id: 'AdminDomain' });

export const Approval = z
  .strictObject({
    svc_ns: z
      .array(z.string().max(1024))
      .min(1)
      .max(32)
      .optional()
      .describe(
        'Lets this set of our nameservers prove the domain. By default the one that the parent shows.',
      ),
    take: z.boolean().default(false).describe('Takes the right from the account that has it.'),
  })
  .meta({ id: 'Approval' });

const names = Object.values(ENTITLEMENTS).map(({ name }) => name);

export const SubscriptionChange = z
  .strictObject({
    plan: z.string().min(1).max(40).nullable().optional().describe('By its slug; null: no plan.'),
    plan_term_id: Id.optional().describe(
      'Begins a subscription with this term. By default one without an end.',
    ),
    overrides: z
      .partialRecord(z.enum(names as [string, ...string[]]), z.union([z.int().min(0), z.boolean(), z.null()]))
      .nullable()
      .optional()
      .describe('All that differs from the plan; null or `{}` for nothing.'),
    auto_renew: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'expected plan, plan_term_id, overrides or auto_renew')
  .meta({ id: 'SubscriptionChange' });
