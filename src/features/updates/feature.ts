// Dynamic update (RFC 2136): what TSIG keys may change (docs/operating/dynamic-update.md). The tables belong to the core,
// because nodes and API processes carry updates out.

import type { Feature } from '../feature.ts';

export const updates: Feature = {
  name: 'updates',
  privileges: { tables: {} },
  tags: { 'Dynamic update': 'What TSIG keys may change by DNS messages (RFC 2136).' },
  routes: async () => (await import('./routes.ts')).UPDATE_ROUTES,
  commands: async () => (await import('./cli.ts')).addUpdateCommands,
};
