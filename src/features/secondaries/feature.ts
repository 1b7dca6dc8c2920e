// Copies of zones from primaries. The tables belong to the core, because nodes read which zones are copies.

import type { Feature } from '../feature.ts';
import { REFRESH_ZONE } from './rules.ts';

export const secondaries: Feature = {
  name: 'secondaries',
  privileges: { tables: {} },
  queues: [REFRESH_ZONE],
  routes: async () => (await import('./routes.ts')).PRIMARY_ROUTES,
  jobs: async () => [(await import('./job.ts')).openRefreshJob],
  commands: {
    listed: { secondary: 'manage zones that are copied from a primary' },
    extended: ['zone'],
    load: async () => (await import('./cli.ts')).addSecondaryCommands,
  },
};
