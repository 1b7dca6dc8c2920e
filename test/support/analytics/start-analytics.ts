// A test's own analytics store: the embedded engine with an empty directory. The first test that needs one installs it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { openKeptAnalytics } from '../../../src/start/keep-analytics.ts';
import { until } from '../tests/until.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const INSTALL_MS = 240_000;

export interface TestAnalytics {
  readonly url: string;
  readonly directory: string;
  /** Messages to the operator. */
  readonly told: readonly string[];
  pid(): number | undefined;
  /** Sends SIGKILL and resolves immediately. The engine restarts automatically. */
  kill(): void;
  /** Kills it, and waits until it answers again. */
  restart(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export async function startAnalytics(
  options: { readonly directory?: string; readonly hungMs?: number } = {},
): Promise<TestAnalytics> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'zf-analytics-'));
  const told: string[] = [];
  const kept = await openKeptAnalytics({
    root: ROOT,
    places: [join(ROOT, 'node_modules/.cache/zonefleet-analytics')],
    directory,
    password: 'test',
    memoryBytes: 2 * 1024 ** 3,
    npmEnv: process.env,
    env: process.env,
    say: (line) => told.push(line),
    ...(options.hungMs !== undefined && { hungMs: options.hungMs }),
  });
  const failed = () => told.find((line) => line.startsWith('no analytics'));
  const started = kept.keep();
  let isThere = false;
  void started.then(() => {
    isThere = true;
  });
  await until(
    () => {
      const words = failed();
      if (words !== undefined) throw new Error(words);
      return isThere;
    },
    'the analytics engine runs',
    INSTALL_MS,
  );
  const signal = (name: NodeJS.Signals) => {
    const pid = kept.pid();
    try {
      if (pid !== undefined) process.kill(pid, name);
    } catch {
      // it has ended and was not restarted yet
    }
  };
  return {
    url: kept.url,
    directory,
    told,
    pid: kept.pid,
    signal,
    kill: () => signal('SIGKILL'),
    async restart() {
      const before = kept.pid();
      signal('SIGKILL');
      const analytics = openAnalytics(kept.url);
      await until(
        async () =>
          kept.pid() !== before &&
          (await analytics.query('SELECT 1', {}, { seconds: 5 }).then(
            () => true,
            () => false,
          )),
        'the analytics engine is back',
      );
      await analytics.close();
    },
    async stop() {
      await kept.stop();
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}
