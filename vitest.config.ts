// A test's suffix is its tier, and each tier is a project: docs/contributing.md describes them.

import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import TierSequencer from './test/support/tests/tier-sequencer.ts';

const proves = process.env.ZONEFLEET_PROVE === '1';
const isCi = process.env.CI === 'true';
/** True for `npm test`: its three tiers are one project, so that each process imports the sources only once. */
const isWhole = process.env.ZONEFLEET_TEST_WHOLE === '1';
/** Directory of compiled threads. Set by `npm test`, in which each of many threads would translate its modules otherwise. */
const compiled = process.env.ZONEFLEET_TEST_COMPILED;

// Deadlines end tests that hang. They do not measure speed.
const MINUTE_MS = 60_000;
const common = {
  pool: 'forks',
  testTimeout: proves ? 60 * MINUTE_MS : 3 * MINUTE_MS,
  hookTimeout: 5 * MINUTE_MS,
  teardownTimeout: MINUTE_MS,
  // CI's machine may stall for seconds. A test that passes only when repeated is reported as flaky. Projects do not inherit this.
  retry: isCi && !proves ? 1 : 0,
} as const;

interface Tier {
  readonly name: string;
  readonly include: string;
  readonly exclude?: string;
  /** True if each file has its own process. */
  readonly isolate: boolean;
}

const withPostgres = ({ name, include, exclude, isolate }: Tier) => ({
  ...(compiled && { define: { ZONEFLEET_COMPILED: JSON.stringify(compiled) } }),
  test: {
    ...common,
    name,
    isolate,
    include: [`test/**/*${include}`],
    ...(exclude !== undefined && { exclude: [`test/**/*${exclude}`] }),
    globalSetup: ['./test/support/tests/global-setup.ts'],
  },
});

const UNIT = {
  test: {
    ...common,
    name: 'unit',
    isolate: false,
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.*.test.ts'],
  },
};

const WHOLE: Tier = {
  name: 'whole',
  include: '.test.ts',
  exclude: '.{flow,nightly}.test.ts',
  isolate: false,
};

const TIERS: readonly Tier[] = [
  { name: 'postgres', include: '.postgres.test.ts', isolate: false },
  { name: 'sockets', include: '.sockets.test.ts', isolate: false },
  { name: 'flow', include: '.flow.test.ts', isolate: true },
  { name: 'nightly', include: '.nightly.test.ts', isolate: true },
  ...(existsSync('/usr/lib/postgresql/15')
    ? [{ name: 'postgres-15', include: '.postgres.test.ts', isolate: false }]
    : []),
];

export default defineConfig({
  test: {
    // Of three processes, one often waits for Postgres or a socket.
    maxWorkers: proves ? 1 : isWhole ? 3 : 2,
    sequence: { sequencer: TierSequencer },
    // Transformed modules are kept between runs, in node_modules.
    experimental: { fsModuleCache: true },
    reporters: ['default', './test/support/tests/closing-line.ts'],
    projects: isWhole ? [withPostgres(WHOLE)] : [UNIT, ...TIERS.map(withPostgres)],
  },
});
