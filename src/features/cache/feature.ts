// Caches of edges: their entries, and purges (docs/api.md "The cache").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';

export const cache: Feature = {
  name: 'cache',
  schema: ['entries.sql', 'tables.sql'],
  privileges: {
    tables: {
      cache_purges: grants('', 'siu', 'sud'), // deleted with their domain
      cache_purge_edges: grants('', 'siud', ''), // deleted with their purge and edge
      cached_entries: grants('', 'siud', 'sd'),
      cached_domains: grants('', 'siud', 'siud'),
      cached_nodes: grants('', 'siu', 'sd'),
    },
  },
  // Edges keep nothing for more than seven days (`cache_l2_ttl_days`).
  retention: { cache_purges: `at < now() - interval '8 days'` },
  services: async () => (await import('./services.ts')).openCacheServices,
  routes: async () => (await import('./routes.ts')).CACHE_ROUTES,
  edgeRoutes: async () => (await import('./routes-edge.ts')).EDGE_CACHE_ROUTES,
  rounds: async () => [(await import('./job.ts')).startCacheSweep],
  commands: {
    listed: { cache: 'list and purge what edges have cached for a domain' },
    load: async () => (await import('./cli.ts')).addCacheCommands,
  },
};
