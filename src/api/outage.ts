// Whether an error means that Postgres is not there (or cannot serve now): the caller may try again, and a 503 says so.

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
  'EMFILE', // no descriptor is left for a connection
  'ENFILE',
]);

/** PostgreSQL appendix A: shutdown, starting up, connections exhausted, primary turned standby, gave way to another transaction. */
const SERVER_CODES = /^(08...|57P0[1235]|53300|53400|25006|40001|40P01|55P03)$/;
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Node tries every address of a name.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isOutage);
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code === 'string') {
    if (CONNECTION_CODES.has(code) && syscall !== 'open') return true;
    if (SERVER_CODES.test(code)) return true;
  }
  return DRIVER_WORDS.test(error.message);
}
