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
  commands: {
    listed: {
      tsig: 'manage the TSIG keys with which peers and this fleet sign messages',
      peer: 'manage servers of other operators',
      policy: 'manage lists of peers that may transfer zones and receive NOTIFY',
      'transfers <name...>': 'show what the peers of zones have; exit 1 if a peer lags by 60 seconds or more',
    },
    extended: ['zone'],
    load: async () => (await import('./cli.ts')).addTransferCommands,
  },
};
