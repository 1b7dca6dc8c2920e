// The embedded analytics engine of `npm start`: installs its package in the background, keeps its process running, and
// kills a process that no longer answers. Nothing waits for it: until it is ready, its port responds 503.
//
//   installing ──▶ starting ──ready──▶ running ──crash, or no answer──▶ starting …
// a failed install or start is reported and retried after 1 minute, doubled up to 1 hour

import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessUser } from '../process/run-as.ts';
import { openDoorPlace } from './analytics/door-place.ts';
import { openFrontDoor } from './analytics/front-door.ts';
import { ENGINE_SIZE, installEngine, installedEngine, lackOfHash } from './analytics/install-engine.ts';
import { SupervisedProcess } from './supervise.ts';

const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
const PING_EVERY_MS = 5000;
/** A busy disk or machine makes the engine slow. If it is silent for this long, it is stuck. */
const HUNG_MS = 30_000;

interface AnalyticsOptions {
  /** Directory of this program's files. */
  readonly root: string;
  /** Installation directories in order of preference. */
  readonly places: readonly string[];
  /** The engine's own directory. The caller creates it for the user. */
  readonly directory: string;
  readonly password: string;
  readonly memoryBytes: number;
  readonly user?: ProcessUser | undefined;
  /** Environment of npm, which installs the engine and has its own variables. */
  readonly npmEnv: NodeJS.ProcessEnv;
  /** Environment of the engine. */
  readonly env: NodeJS.ProcessEnv;
  readonly say: (told: string) => void;
  readonly hungMs?: number;
}

export interface KeptAnalytics {
  /** Includes the password. It does not change. */
  readonly url: string;
  /** Returns the pid of the engine's process, or undefined if there is none. */
  readonly pid: () => number | undefined;
  /** Installs and starts the engine. Resolves when it runs for the first time, or when it is stopped. */
  keep(): Promise<void>;
  stop(): Promise<void>;
}

export async function openKeptAnalytics(options: AnalyticsOptions): Promise<KeptAnalytics> {
  const door = openDoorPlace(options.directory, options.user);
  const { socket } = door;
  const front = await openFrontDoor(socket);
  const stopping = new AbortController();
  let engine: SupervisedProcess | undefined;
  let watching: Promise<void> = Promise.resolve();
  let kept: Promise<void> = Promise.resolve();

  async function startOnce(): Promise<void> {
    let packages = installedEngine(options.root, options.places);
    if (packages === undefined) {
      options.say(`installing the analytics engine in the background (chdb, ${ENGINE_SIZE})`);
      const lack = lackOfHash(options.root);
      if (lack !== undefined) options.say(lack);
      packages = await installEngine(options.root, options.places, stopping.signal, options.npmEnv);
    }
    stopping.signal.throwIfAborted();
    const { directory, password, memoryBytes, user } = options;
    const told = { packages, directory, socket, password, memoryBytes, user };
    const started = new SupervisedProcess({
      name: 'analytics engine',
      entry: new URL('./analytics/main.ts', import.meta.url),
      env: { ...options.env, UV_THREADPOOL_SIZE: '12', ANALYTICS_ENGINE: JSON.stringify(told) },
      onCrash: ({ ended }) => options.say(`the analytics engine ended (${ended}) and is being restarted`),
    });
    engine = started;
    await started.start();
    watching = watch(started);
  }

  async function watch(watched: SupervisedProcess): Promise<void> {
    const hungMs = options.hungMs ?? HUNG_MS;
    while (!stopping.signal.aborted) {
      await pause(Math.min(PING_EVERY_MS, hungMs), undefined, { signal: stopping.signal }).catch(() => {});
      const { pid } = watched;
      if (stopping.signal.aborted || pid === undefined) continue;
      if ((await ping(socket, options.password, hungMs)) !== 'silent' || watched.pid !== pid) continue;
      options.say(`the analytics engine did not respond for ${hungMs / 1000} s and was killed`);
      kill(pid);
    }
  }

  async function keep(): Promise<void> {
    for (
      let retryMs = FIRST_RETRY_MS;
      !stopping.signal.aborted;
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
    ) {
      try {
        await startOnce();
        options.say('analytics are ready');
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        const { message } = error as Error;
        options.say(`analytics are not available: ${message}; trying again in ${retryMs / 60_000} min`);
        await pause(retryMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  return {
    url: `http://zonefleet:${options.password}@127.0.0.1:${front.port}/zonefleet`,
    pid: () => engine?.pid,
    keep: () => {
      kept = keep();
      return kept;
    },
    async stop() {
      stopping.abort();
      await engine?.stop();
      await kept;
      await engine?.stop(); // an engine that was starting when the stop came
      await watching;
      await front.close();
      door.remove();
    },
  };
}

/** `away`: the engine is being started, and its start reports failures. */
function ping(
  socketPath: string,
  password: string,
  timeoutMs: number,
): Promise<'answers' | 'silent' | 'away'> {
  return new Promise((done) => {
    const asked = request(
      { socketPath, path: '/ping', auth: `zonefleet:${password}`, agent: false },
      (answer) => {
        answer.resume();
        answer.on('end', () => done('answers'));
      },
    );
    const silence = setTimeout(() => {
      done('silent');
      asked.destroy();
    }, timeoutMs);
    asked.on('close', () => clearTimeout(silence));
    asked.on('error', () => done('away'));
    asked.end();
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended in the meantime
  }
}
