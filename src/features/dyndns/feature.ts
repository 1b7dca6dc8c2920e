// Routers and programs such as ddclient publish their address with the protocol dyndns2 (docs/tools/ddclient.md).

import type { Feature } from '../feature.ts';

export const dyndns: Feature = {
  name: 'dyndns',
  privileges: { tables: {} },
  compatRoutes: async () => (await import('./routes.ts')).DYNDNS_ROUTES,
};
