// A domain in the list of all: with the state of its certificates and, for its owner, its subscription.

import { z } from 'zod';
import { Domain } from './domain.ts';
import { Subscription } from './subscription.ts';

export const DomainListItem = z
  .object({
    ...Domain.shape,
    ssl: z.object({ status: z.literal('none') }).describe('Certificates are not managed here yet.'),
    subscription: Subscription.optional().describe('The active one. For the owner only.'),
  })
  .meta({ id: 'DomainListItem' });
