// The accepted nameserver sets.

import { z } from 'zod';

export const NameserverSets = z.array(z.array(z.string()).min(1)).meta({
  id: 'NameserverSets',
  description:
    'Every accepted set, the canonical one first; one where the account has a set of its own. Delegate to exactly one.',
});
