// The embedded Postgres of `npm start`: its location, and restarts after a crash. Meanwhile nodes continue to answer, and
// reconnect automatically because its socket keeps its path.

import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { rootPlaceOf } from '../../process/run-as.ts';
import { StartFault } from '../../process/start-fault.ts';
import { type RunningPostgres, startPostgres } from './postgres.ts';

const RESTART_MS = 1000;

interface KeptPostgres {
  readonly directory: string;
  /** URL of the superuser. */
  readonly url: string;
  readonly socketDirectory: string;
  /** Call this after `signal` has been aborted. */
  stop(): Promise<void>;
}

/**
 * Returns a directory in DATA_DIR. For root, whose home the Postgres user may not enter, returns a separate one per
 * DATA_DIR.
 */
function databaseDirectory(dataDirectory: string): string {
  const isRoot = process.getuid?.() === 0;
  return isRoot ? rootPlaceOf(dataDirectory) : join(dataDirectory, 'postgres');
}

/** Also creates the parents, one by one: Node's `recursive` never returns if mkdir always fails with ENOENT (/proc). */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  mkdirSync(directory);
}

export async function keepPostgres(
  dataDirectory: string,
  {
    signal,
    onAccident,
    gid,
  }: {
    signal: AbortSignal;
    onAccident: (told: string) => void;
    /** Group of the processes, if they run as another user than this one. */
    gid?: number;
  },
): Promise<KeptPostgres> {
  try {
    makeDirectory(dataDirectory);
    accessSync(dataDirectory, constants.W_OK);
  } catch (error) {
    throw new StartFault(
      `DATA_DIR: cannot write to ${dataDirectory} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  const directory = databaseDirectory(realpathSync(dataDirectory));
  const options = { directory, signal, locked: { gid } };
  let running: RunningPostgres = await startPostgres(options);
  const kept = keepRunning();

  async function keepRunning(): Promise<void> {
    while (!signal.aborted) {
      const ended = await running.exited;
      if (signal.aborted) return;
      onAccident(`Postgres ended (${ended}) and is being restarted`);
      while (!signal.aborted) {
        try {
          running = await startPostgres(options);
          break;
        } catch (error) {
          onAccident((error as Error).message);
          await pause(RESTART_MS, undefined, { signal }).catch(() => {});
        }
      }
    }
  }

  return {
    directory,
    url: running.url,
    socketDirectory: running.socketDirectory,
    async stop() {
      await running.stop();
      await kept;
      await running.stop(); // a server that was starting when the stop came
    },
  };
}
