// What a reseller has bought for a domain of a client.

import { z } from 'zod';
import { DNS_MODES, DOMAIN_STATUSES, SERVED } from '../../../zone/domain/domain-status.ts';
import { Id } from '../ids.ts';
import { Subscription } from '../subscription.ts';

export const NewService = z
  .strictObject({
    client_id: Id,
    domain: z.string().min(1).max(1024),
    plan_term_id: Id,
    dns_mode: z.enum(DNS_MODES).default('managed'),
  })
  .meta({ id: 'NewService' });

export const Service = z
  .object({
    id: Id.describe('That of the domain: it stays whatever plan the domain has.'),
    client_id: Id,
    domain_id: Id,
    domain: z.string(),
    domain_status: z.enum(DOMAIN_STATUSES),
    domain_served: z
      .enum(SERVED)
      .describe(
        'The `served` of the domain. If the domain is not answered whole, its `findings` explain what to do.',
      ),
    subscription: Subscription.optional().describe('Absent: there is none.'),
  })
  .meta({ id: 'Service' });
