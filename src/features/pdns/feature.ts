// The HTTP API of PowerDNS, for tools that support PowerDNS (docs/tools/powerdns-api.md).

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';

export const pdns: Feature = {
  name: 'pdns',
  schema: ['tables.sql'],
  privileges: { tables: { pdns_metadata: grants('', 'siud', '') } }, // deleted with its domain
  compatRoutes: async () => [
    ...(await import('./routes.ts')).SERVER_ROUTES,
    ...(await import('./routes-zones-read.ts')).ZONE_READ_ROUTES,
    ...(await import('./routes-zones-write.ts')).ZONE_WRITE_ROUTES,
    ...(await import('./routes-metadata.ts')).METADATA_ROUTES,
    ...(await import('./routes-keys.ts')).KEY_ROUTES,
  ],
};
