// The webhook provider of external-dns, which writes records for the services of a Kubernetes cluster.

import type { Feature } from '../feature.ts';

export const externalDns: Feature = {
  name: 'external-dns',
  privileges: { tables: {} },
  compatRoutes: async () => (await import('./routes.ts')).EXTERNAL_DNS_ROUTES,
};
