// Certificates of domains, uploaded or issued by ACME (docs/api.md "Certificates"). The tables belong to the core,
// because the configuration of edges and the domain resource read them.

import type { Feature } from '../feature.ts';
import { ISSUE_CERTIFICATE } from './rules.ts';

export const certificates: Feature = {
  name: 'certificates',
  privileges: { tables: {} },
  queues: [ISSUE_CERTIFICATE],
  routes: async () => (await import('./routes.ts')).SSL_ROUTES,
  edgeRoutes: async () => (await import('./routes-edge.ts')).EDGE_CERTIFICATE_ROUTES,
  jobs: async () => [(await import('./job.ts')).openCertificateJob],
  commands: {
    listed: { certificates: 'list, show and order certificates of domains' },
    load: async () => (await import('./cli.ts')).addCertificateCommands,
  },
};
