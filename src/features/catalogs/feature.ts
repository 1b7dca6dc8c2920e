// Catalog zones (RFC 9432): catalogs of the fleet's zones for secondaries at other operators, and catalogs of other
// operators whose members are copied. The tables belong to the core, because its triggers write them.

import type { Feature } from '../feature.ts';

export const catalogs: Feature = {
  name: 'catalogs',
  privileges: { tables: {} },
  rounds: async () => [
    (await import('./job-produce.ts')).startPublishing,
    (await import('./job-consume.ts')).startConsuming,
  ],
  commands: {
    listed: { catalog: 'manage catalog zones, which list zones for secondaries (RFC 9432)' },
    load: async () => (await import('./cli.ts')).addCatalogCommands,
  },
};
