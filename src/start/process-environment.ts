// The environment of each process of `npm start`: its own settings, and variables that any program needs. A secret is
// passed only to the process that uses it.

import { READERS_OF, SECRET_OF_FILE } from '../process/settings/every-setting.ts';
import type { ProcessName } from '../process/settings/setting.ts';

/**
 * Variables of Node, its libraries, the C library and OpenSSL. `UV_USE_IO_URING` is omitted: a ring that root has created
 * keeps root's privileges after the process has dropped them (CVE-2024-22017).
 */
const OF_ANY_PROGRAM =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|NODE_\w+|UV_THREADPOOL_SIZE|SSL_CERT_(FILE|DIR))$/;
/** The `pg` client uses these for parameters missing in the URL. */
const OF_POSTGRES_CLIENT = /^PG[A-Z]+$/;

/** Environment of programs that are not ours, such as npm: everything except our settings, which contain secrets. */
export function environmentOfProgram(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isKept = (variable: string) =>
    !READERS_OF.has(variable) && !OF_POSTGRES_CLIENT.test(variable) && variable !== 'UV_USE_IO_URING';
  return Object.fromEntries(Object.entries(env).filter(([variable]) => isKept(variable)));
}

/** Environment of our processes that read no settings. */
export function environmentWithoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([variable]) => OF_ANY_PROGRAM.test(variable)));
}

/** Environment of one process. `own` are the settings chosen by `npm start`. */
export function environmentOf(
  name: ProcessName,
  env: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const reads = (variable: string) => {
    const secret = SECRET_OF_FILE.get(variable);
    if (secret !== undefined && own[secret] !== undefined) return false;
    const readers = READERS_OF.get(variable);
    if (readers !== undefined) return readers.includes(name);
    return OF_ANY_PROGRAM.test(variable) || OF_POSTGRES_CLIENT.test(variable);
  };
  return Object.fromEntries(Object.entries({ ...env, ...own }).filter(([variable]) => reads(variable)));
}
