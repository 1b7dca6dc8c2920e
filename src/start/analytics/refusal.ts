// Errors for rejected statements, with the names and codes of a ClickHouse server, which `@clickhouse/client` reads.

/** Codes by ClickHouse name. */
const CODES = {
  UNKNOWN_SETTING: 115,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  BAD_QUERY_PARAMETER: 457,
  UNKNOWN_QUERY_PARAMETER: 456,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
  SYNTAX_ERROR: 62,
  QUERY_IS_TOO_LARGE: 307,
  UNKNOWN_DATABASE: 81,
  NOT_IMPLEMENTED: 48,
} as const;

export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(code: keyof typeof CODES, message: string) {
    super(`Code: ${CODES[code]}. DB::Exception: ${message}. (${code})`);
  }
}
