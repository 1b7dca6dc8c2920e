// How the tests run: real processes and servers, so a test may take long, but each ends by itself.

import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const GLOBAL_SETUP = './test/support/global-setup.ts';
const proves = process.env.ZONEFLEET_PROVE === '1';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: existsSync(new URL(GLOBAL_SETUP, import.meta.url)) ? [GLOBAL_SETUP] : [],
    pool: 'forks',
    maxWorkers: proves ? 1 : 2,
    testTimeout: proves ? 30 * 60_000 : 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    // CI's machine may stand still for a second at any time: there a failed test is run once more, and told as flaky.
    retry: process.env.CI === 'true' && !proves ? 1 : 0,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
