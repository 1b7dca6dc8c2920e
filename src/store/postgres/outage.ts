// Classifies errors that mean that Postgres is unavailable. The caller may retry, and gets a 503.

import { DatabaseSilence } from './bounded-client.ts';
import { PoolFull } from './growing-pool.ts';

export type OutageKind =
  /** Postgres cannot be reached, or accepts no connections. */
  | 'unreachable'
  /** Postgres hangs, or exceeded its limit. */
  | 'silent'
  /** Other transactions hold the lock, or all connections are in use. */
  | 'busy'
  /** There is no disk space for a write. */
  | 'no_disk_space'
  /** Memory, files or the disk itself fail. */
  | 'no_resources';

/** The message for callers and operators, and the delay before a retry, of each outage. */
export const OUTAGES: Readonly<
  Record<OutageKind, { readonly words: string; readonly retrySeconds: number }>
> = {
  unreachable: { words: 'the database cannot be reached', retrySeconds: 1 },
  silent: { words: 'the database does not respond', retrySeconds: 5 },
  busy: { words: 'the database is busy', retrySeconds: 1 },
  no_disk_space: { words: 'the database has no disk space', retrySeconds: 30 },
  no_resources: { words: 'the database is out of memory, or its disk fails', retrySeconds: 30 },
};

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT', // no socket
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EMFILE', // no file descriptor left
  'ENFILE',
]);

/**
 * Codes of PostgreSQL appendix A. Damaged data (XX001, XX002) is not included, because a retry does not help and an
 * operator must act. 28 and 3D000 are, because a password is being changed, or a database restored.
 */
const SERVER_CODES: readonly (readonly [RegExp, OutageKind])[] = [
  [/^53100$/, 'no_disk_space'],
  [/^(53[012]00|58000|58030|58P01)$/, 'no_resources'],
  [/^(53300|53400|40001|40P01|55P03)$/, 'busy'],
  [/^(57014|25P0[34]|57P05)$/, 'silent'],
  [/^(08...|57P0[1-4]|25006|28...|3D000)$/, 'unreachable'],
];

const DRIVER_WORDS: readonly (readonly [RegExp, OutageKind])[] = [
  [
    /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated due to connection timeout)/,
    'silent',
  ],
  [
    /^(Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end)/,
    'unreachable',
  ],
];

/** Returns undefined if the error is a bug. */
export function outageOf(error: unknown): OutageKind | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof DatabaseSilence) return 'silent';
  if (error instanceof PoolFull) return 'busy';
  // Node.js tries every address of a name.
  if (error instanceof AggregateError) {
    const kinds = error.errors.map(outageOf);
    return kinds.includes(undefined) ? undefined : kinds[0];
  }
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code === 'string') {
    if (CONNECTION_CODES.has(code) && syscall !== 'open') return 'unreachable';
    const known = SERVER_CODES.find(([codes]) => codes.test(code));
    if (known !== undefined) return known[1];
  }
  return DRIVER_WORDS.find(([words]) => words.test(error.message))?.[1];
}
