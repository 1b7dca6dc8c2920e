// The environment of each process of `npm start`: its own settings, and what any program needs to run. A secret reaches
// only the process that uses it.

export type ProcessName = 'nameserver' | 'API' | 'workers';

const ALL: readonly ProcessName[] = ['nameserver', 'API', 'workers'];
const QUEUE: readonly ProcessName[] = ['API', 'workers'];

/** Every setting, and the processes that read it. None: `npm start` itself and the CLI do. */
export const SETTING_READERS: Readonly<Record<string, readonly ProcessName[]>> = {
  DATABASE_URL: ALL,
  METRICS_LISTEN: ALL,
  METRICS_HOSTS: ALL,
  LOG_LEVEL: ALL,
  RUN_AS: ALL,
  DATABASE_READ_URL: ['nameserver'],
  DATA_DIR: ['nameserver'],
  DNS_LISTEN: ['nameserver'],
  NODE_NAME: ['nameserver'],
  DNS_THREADS: ['nameserver'],
  DNS_IO: ['nameserver'],
  IMAGE_BYTES: ['nameserver'],
  COOKIE_SECRETS: ['nameserver'],
  RRL: ['nameserver'],
  RRL_OCTETS: ['nameserver'],
  REDIS_URL: QUEUE,
  COUNTRY_DB: QUEUE,
  API_LISTEN: ['API'],
  API_RATE: ['API'],
  API_CONNECTIONS: ['API'],
  API_CONNECTIONS_PER_ADDRESS: ['API'],
  BOOTSTRAP_API_KEY: ['API'],
  SESSION_SECRET: ['API'],
  ALLOW_RESERVED_NAMES: ['API'],
  BOARD_LISTEN: ['workers'],
  ROOT_HINTS: ['workers'],
  DNS_PORT_OUT: ['workers'],
  RESOLVER_ALLOW: ['workers'],
  PUBLIC_RESOLVERS: ['workers'],
  MOVED_AFTER: ['workers'],
  MOVED_GRACE: ['workers'],
  PENDING_MAX: ['workers'],
  UNVERIFIED_MAX: ['workers'],
  CHECK_CONCURRENCY: ['workers'],
  NAMESERVER_SETS: [],
  EDGE_IPV4: [],
  EDGE_IPV6: [],
  SOA_RNAME: [],
  ROLE_PASSWORDS: [],
};

/**
 * Of Node, its libraries, the C library and OpenSSL. `UV_USE_IO_URING` is left out: a ring that root has made keeps root's
 * rights after the process has given them up (CVE-2024-22017).
 */
const OF_ANY_PROGRAM =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|NODE_\w+|UV_THREADPOOL_SIZE|SSL_CERT_(FILE|DIR))$/;
/** The `pg` client takes from them what the URL does not say. */
const OF_POSTGRES_CLIENT = /^PG[A-Z]+$/;

/** The environment of one process; `own` are the settings that `npm start` decides. */
export function environmentOf(
  name: ProcessName,
  env: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const reads = (variable: string) => {
    const readers = Object.hasOwn(SETTING_READERS, variable) ? SETTING_READERS[variable] : undefined;
    if (readers !== undefined) return readers.includes(name);
    return OF_ANY_PROGRAM.test(variable) || OF_POSTGRES_CLIENT.test(variable);
  };
  return Object.fromEntries(Object.entries({ ...env, ...own }).filter(([variable]) => reads(variable)));
}
