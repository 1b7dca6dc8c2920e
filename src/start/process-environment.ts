// The environment of each process of `npm start`: its own settings, and what any program needs to run. A secret reaches
// only the process that uses it.

import { READERS_OF } from '../process/settings/every-setting.ts';
import type { ProcessName } from '../process/settings/setting.ts';

/**
 * Of Node, its libraries, the C library and OpenSSL. `UV_USE_IO_URING` is left out: a ring that root has made keeps root's
 * rights after the process has given them up (CVE-2024-22017).
 */
const OF_ANY_PROGRAM =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|NODE_\w+|UV_THREADPOOL_SIZE|SSL_CERT_(FILE|DIR))$/;
/** The `pg` client takes from them what the URL does not say. */
const OF_POSTGRES_CLIENT = /^PG[A-Z]+$/;

/** That of a program that is not ours, npm for example: everything but our settings, which hold secrets. */
export function environmentOfProgram(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isKept = (variable: string) =>
    !READERS_OF.has(variable) && !OF_POSTGRES_CLIENT.test(variable) && variable !== 'UV_USE_IO_URING';
  return Object.fromEntries(Object.entries(env).filter(([variable]) => isKept(variable)));
}

/** That of a process of ours that reads no setting. */
export function environmentWithoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([variable]) => OF_ANY_PROGRAM.test(variable)));
}

/** The environment of one process; `own` are the settings that `npm start` decides. */
export function environmentOf(
  name: ProcessName,
  env: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const reads = (variable: string) => {
    const readers = READERS_OF.get(variable);
    if (readers !== undefined) return readers.includes(name);
    return OF_ANY_PROGRAM.test(variable) || OF_POSTGRES_CLIENT.test(variable);
  };
  return Object.fromEntries(Object.entries({ ...env, ...own }).filter(([variable]) => reads(variable)));
}
