// What is bought for a domain.

import { z } from 'zod';
import { Id } from '../ids.ts';

const termId = Id.describe('One of the `terms` of a plan.');

export const SubscriptionPurchase = z
  .strictObject({
    plan_term_id: termId,
    auto_renew: z.boolean().optional().describe('By default true.'),
  })
  .meta({ id: 'SubscriptionPurchase' });

export const SubscriptionSwitch = z.strictObject({ plan_term_id: termId }).meta({ id: 'SubscriptionSwitch' });

export const AutoRenew = z.strictObject({ auto_renew: z.boolean() }).meta({ id: 'AutoRenew' });
