// How the tests run: real processes and servers, so a test may take long, but each ends by itself. The projects are the
// tiers of test/support/tests/tiers.ts; a tier takes a test by what it reaches.

import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { sortTests } from './test/support/tests/tiers.ts';

const proves = process.env.ZONEFLEET_PROVE === '1';
const { unit, postgres, sockets, thorough, whole, everyPostgres } = sortTests();

// Deadlines end what hangs. They are no measure of speed: a machine that has much else to do is slow.
const MINUTE_MS = 60_000;
const common = {
  pool: 'forks',
  testTimeout: proves ? 60 * MINUTE_MS : 3 * MINUTE_MS,
  hookTimeout: 5 * MINUTE_MS,
  teardownTimeout: MINUTE_MS,
  // CI's machine may stand still for a second at any time: there a failed test is run once more, and told as flaky. Said
  // for each project, since projects do not take it from the whole.
  retry: process.env.CI === 'true' && !proves ? 1 : 0,
} as const;

const withPostgres = (name: string, include: readonly string[], isolate = true) => ({
  test: {
    ...common,
    name,
    include: [...include],
    isolate,
    globalSetup: ['./test/support/tests/global-setup.ts'],
  },
});

const DEBIAN_POSTGRES = '/usr/lib/postgresql/15';

export default defineConfig({
  test: {
    maxWorkers: proves ? 1 : 2,
    reporters: ['default', './test/support/tests/closing-line.ts'],
    projects: [
      { test: { ...common, name: 'unit', include: [...unit], isolate: false } },
      withPostgres('postgres', postgres, false),
      withPostgres('sockets', sockets),
      withPostgres('thorough', thorough, false),
      withPostgres('whole', whole),
      ...(existsSync(DEBIAN_POSTGRES) ? [withPostgres('postgres-15', everyPostgres)] : []),
    ],
  },
});
