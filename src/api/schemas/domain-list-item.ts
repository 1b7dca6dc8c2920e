// A domain in the list of all: with how much it has, when it was changed, the state of its certificates and, for its owner,
// its subscription.

import { z } from 'zod';
import { Domain } from './domain.ts';
import { SslSummary } from './ssl.ts';
import { Subscription } from './subscription.ts';
import { Timestamp } from './timestamp.ts';

export const DomainListItem = z
  .object({
    ...Domain.shape,
    records: z.int().min(0).describe('How many records it has, without those of the service.'),
    changed_at: Timestamp.describe('Of the newest change in its log.'),
    ssl: SslSummary.describe('Of its certificate; more with `getSsl`.'),
    subscription: Subscription.optional().describe('The active one. For the owner only.'),
  })
  .meta({ id: 'DomainListItem' });
