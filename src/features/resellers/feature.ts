// Resellers: accounts that manage other accounts, and buy services for them (docs/reseller.md).

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';

export const resellers: Feature = {
  name: 'resellers',
  schema: ['tables.sql'],
  privileges: { tables: { client_tries: grants('', 'siu', '') } },
  resellerRoutes: async () => [
    ...(await import('./routes-tokens.ts')).TOKEN_ROUTES,
    ...(await import('./routes.ts')).CLIENT_ROUTES,
    ...(await import('./routes.ts')).TRANSFER_ROUTES,
    ...(await import('./routes-services.ts')).SERVICE_ROUTES,
  ],
  commands: {
    listed: { reseller: 'resellers, their clients and machine tokens' },
    load: async () => (await import('./cli.ts')).addResellerCommands,
  },
};
