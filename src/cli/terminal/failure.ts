// Reasons why a command could not run: wrong usage, or a dependency that is broken. The exit code is 2. The answer "no" is not a
// failure: commands return 1 for it.

type FailureCode =
  | 'usage'
  | 'settings'
  | 'no_database'
  | 'database'
  | 'queue'
  | 'analytics'
  | 'file'
  | 'internal';

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Converts a thrown value to a failure with a one-line message. Unexpected errors keep their stack as the cause. */
export function explainFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) return new Failure('internal', String(error));
  const cause = firstOf(error);
  const code = (cause as { code?: unknown }).code;
  if (cause.name === 'QueueUnavailable')
    return new Failure('queue', oneLine(cause.message), { cause: error });
  if (cause.name === 'StartFault') return new Failure('settings', cause.message, { cause: error });
  if (cause.name === 'SchemaError') return new Failure('database', cause.message, { cause: error });
  if (typeof code === 'string' && isDatabaseCode(code, cause)) {
    return new Failure('database', `Postgres: ${oneLine(describe(cause))}`, { cause: error });
  }
  if (/^(timeout exp|Connection terminated|timeout exceeded when trying to connect)/.test(cause.message)) {
    return new Failure('database', `Postgres: ${oneLine(cause.message)}`, { cause: error });
  }
  return new Failure('internal', oneLine(cause.message) || cause.name, { cause: error });
}

/** True for data and constraint errors, which are caused by the given rows and not by the connection or the server. */
export function isAboutTheRows(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code);
}

// Node tries every address of a name and throws an AggregateError that has no message.
function firstOf(error: Error): Error {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first : error;
}

const CONNECTION_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
];

function isDatabaseCode(code: string, error: Error): boolean {
  const viaSocket = (error as { syscall?: string }).syscall === 'connect';
  const fromServer = /^[0-9A-Z]{5}$/.test(code) && 'severity' in error;
  return CONNECTION_CODES.includes(code) || viaSocket || fromServer;
}

function describe(error: Error): string {
  const { code, detail } = error as { code?: string; detail?: string };
  if (code === '42P01') return `${error.message}; run "zonefleet migrate"`;
  return detail === undefined ? error.message : `${error.message} (${detail})`;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
