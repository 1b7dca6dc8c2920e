// The embedded analytics engine of `npm start`: installs its package in the background, keeps its process running, and kills one
// that no longer answers. Nothing waits for it: until it is there the port says 503.
//
//   installing ──▶ starting ──ready──▶ running ──crash, or no answer──▶ starting …
//   a failed install or start is told, and tried again after 1 minute, doubled up to 1 hour

import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessUser } from '../process/run-as.ts';
import { openDoorPlace } from './analytics/door-place.ts';
import { openFrontDoor } from './analytics/front-door.ts';
import { installEngine, installedEngine, lackOfHash } from './analytics/install-engine.ts';
import { SupervisedProcess } from './supervise.ts';

const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
const PING_EVERY_MS = 5000;
/** A busy disk or machine makes it slow; one that is silent for so long is stuck. */
const HUNG_MS = 30_000;

interface AnalyticsOptions {
  /** Of this program's files. */
  readonly root: string;
  /** Where the package may be installed, the best first. */
  readonly places: readonly string[];
  /** The engine's own; it is made by the caller, for the user. */
  readonly directory: string;
  readonly password: string;
  readonly memoryBytes: number;
  readonly user?: ProcessUser | undefined;
  /** Of npm, which installs the engine: it reads variables of its own. */
  readonly npmEnv: NodeJS.ProcessEnv;
  /** Of the engine. */
  readonly env: NodeJS.ProcessEnv;
  readonly say: (told: string) => void;
  readonly hungMs?: number;
}

export interface KeptAnalytics {
  /** With the password; it stays the same. */
  readonly url: string;
  /** Of the engine's process; undefined: there is none. */
  readonly pid: () => number | undefined;
  /** Installs and starts it; resolves when it runs for the first time, or is stopped. */
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
      options.say(
        'installing the analytics engine in the background (chdb, 548 MiB); ANALYTICS=off leaves it out',
      );
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
      onCrash: ({ ended }) => options.say(`the analytics engine ended (${ended}) and is started again`),
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
      options.say(`the analytics engine gave no answer for ${hungMs / 1000} s and is killed`);
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
        options.say('analytics are there');
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        const { message } = error as Error;
        options.say(`no analytics for now: ${message}; tried again in ${retryMs / 60_000} min`);
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
      await engine?.stop(); // that which was being started when the stop came
      await watching;
      await front.close();
      door.remove();
    },
  };
}

/** Away: it is being started, and whoever started it knows. */
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
    // it has ended meanwhile
  }
}
