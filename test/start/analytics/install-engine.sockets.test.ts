// A failed installation of the engine's package is reported, leaves nothing behind, and delays nothing.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ENGINE_SIZE, installEngine, installedEngine } from '../../../src/start/analytics/install-engine.ts';
import { openKeptAnalytics } from '../../../src/start/keep-analytics.ts';
import { until } from '../../support/tests/until.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const home = mkdtempSync(join(tmpdir(), 'zf-engine-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
/** A registry that does not exist, and a cache without packages. */
const CUT_OFF = {
  PATH: process.env.PATH,
  HOME: home,
  npm_config_registry: 'http://127.0.0.1:1/',
  npm_config_fetch_retries: '0',
  npm_config_cache: join(home, 'npm'),
};

it("leaves nothing incomplete, removes old remains, and rejects with npm's message", async () => {
  const place = join(home, 'engines');
  mkdirSync(join(place, 'x.part-999999999'), { recursive: true });
  const installing = installEngine(ROOT, ['/dev/null/nowhere', place], new AbortController().signal, CUT_OFF);
  await expect(installing).rejects.toThrow(/npm install failed: .*ECONNREFUSED|connect/);
  expect(readdirSync(place)).toEqual([]);
  expect(installedEngine(ROOT, [place])).toBe(undefined);
});

it('is reported to the operator with the time of the retry; the port responds 503 meanwhile, and a stop does not wait', async () => {
  const told: string[] = [];
  const kept = await openKeptAnalytics({
    root: ROOT,
    places: [join(home, 'others')],
    directory: mkdtempSync(join(home, 'store-')),
    password: 'test',
    memoryBytes: 1024 ** 3,
    npmEnv: CUT_OFF,
    env: CUT_OFF,
    say: (line) => told.push(line),
  });
  const keeping = kept.keep();
  const { port } = new URL(kept.url);
  const answer = await fetch(`http://127.0.0.1:${port}/ping`);
  expect([answer.status, await answer.text()]).toEqual([503, 'the engine is not there yet']);
  await until(() => told.length === 2);
  expect(told[0]).toContain(`installing the analytics engine in the background (chdb, ${ENGINE_SIZE})`);
  expect(told[1]).toMatch(/^analytics are not available: npm install failed: .*; trying again in 1 min$/s);
  await kept.stop();
  await keeping;
});
