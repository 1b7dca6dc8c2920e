// Grants of TSIG keys for dynamic update (RFC 2136, docs/operating/dynamic-update.md). The tables belong to the core,
// because nodes and API processes use them.

import type { Feature } from '../feature.ts';

export const updates: Feature = {
  name: 'updates',
  privileges: { tables: {} },
  tags: { 'Dynamic update': 'The names that TSIG keys may change by DNS messages (RFC 2136).' },
  routes: async () => (await import('./routes.ts')).UPDATE_ROUTES,
  commands: {
    listed: { update: 'manage the names that TSIG keys may change by dynamic update' },
    load: async () => (await import('./cli.ts')).addUpdateCommands,
  },
};
