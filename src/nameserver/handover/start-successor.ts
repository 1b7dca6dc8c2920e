// Starts the process that replaces this one.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explainEarlyEnd } from '../../process/restart-limit.ts';
import type { Libc } from '../threads/libc.ts';
import { connectUnix, sendDescriptors } from './pass-descriptors.ts';

/**
 * Starts a process with ZONEFLEET_SUCCESSOR set, which takes over the sockets of the process in `directory`. Under `npm
 * start` the parent starts it. Otherwise this process does, with the program on disk and its own settings. Calls
 * `failed` if the successor ends early. Returns a function that kills it.
 */
export function startSuccessor(
  directory: string,
  environment: NodeJS.ProcessEnv,
  failed: (reason: string) => void,
): () => void {
  if (process.send !== undefined) {
    process.send({ kind: 'restart' });
    process.once('message', (message: { kind?: unknown; reason?: unknown }) => {
      if (message.kind === 'restart failed') failed(String(message.reason));
    });
    return () => {}; // the parent has a limit of its own
  }
  if (process.pid === 1) {
    failed('this process is the first of a container, which ends with it: restart the container');
    return () => {};
  }
  const programs = ['../../start/run.mjs', '../main.ts'].map((path) => new URL(path, import.meta.url));
  // With this variable, the successor would end when npm ends, and npm ends with this process.
  const { npm_lifecycle_event: _, ...env } = environment;
  const dataDirectory = join(directory, '../..'); // not always DATA_DIR: `placeSnapshot`
  const child = spawn(process.execPath, [...process.execArgv, ...programs.map((url) => fileURLToPath(url))], {
    env: { ...env, ZONEFLEET_SUCCESSOR: '1', DATA_DIR: dataDirectory },
    stdio: 'inherit',
  });
  child.on('error', (error) => failed(explainEarlyEnd(error.message)));
  child.on('exit', (code, signal) => failed(explainEarlyEnd(signal ?? `exit code ${code}`)));
  child.unref();
  return () => child.kill('SIGKILL');
}

/**
 * Tells systemd, if it started the service, that this process is now its main process (sd_notify(3)). `path` is NOTIFY_SOCKET.
 */
export function notifyMainProcess(libc: Libc, path: string | undefined): void {
  if (path === undefined || process.send !== undefined) return;
  const socket = connectUnix(libc, path.replace(/^@/, '\0'), 'datagrams');
  sendDescriptors(libc, socket, `MAINPID=${process.pid}`, []);
  libc.close(socket);
}
