// Zone transfers to secondaries at other operators: TSIG keys, peers, policies, and the state of transfers
// (docs/operating/transfers.md, docs/api.md "Secondaries"). The tables belong to the core, because nodes read them.

import type { Feature } from '../feature.ts';

export const transfers: Feature = {
  name: 'transfers',
  privileges: { tables: {} },
  tags: {
    'Zone transfers':
      'Secondaries and primaries at other operators, and the TSIG keys that authenticate transfers.',
  },
  services: async () => (await import('./services.ts')).openTransferServices,
  routes: async () => (await import('./routes.ts')).TRANSFER_ROUTES,
  commands: async () => (await import('./cli.ts')).addTransferCommands,
};
