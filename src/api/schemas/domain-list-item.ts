// A domain in the list of all: with the state of its certificates and, for its owner, its subscription.

import { z } from 'zod';
import { Domain } from './domain.ts';
import { SslSummary } from './ssl.ts';
import { Subscription } from './subscription.ts';

export const DomainListItem = z
  .object({
    ...Domain.shape,
    ssl: SslSummary.describe('Of its certificate; more with `getSsl`.'),
    subscription: Subscription.optional().describe('The active one. For the owner only.'),
  })
  .meta({ id: 'DomainListItem' });
