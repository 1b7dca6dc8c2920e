// Classifies errors of the analytics store by whether the same call may succeed later.

import { ClickHouseError } from '@clickhouse/client';

/** TIMEOUT_EXCEEDED, SOCKET_TIMEOUT. */
const SLOW = ['159', '209'];
/**
 * Errors that may be temporary: CANNOT_READ_FROM…, CANNOT_WRITE_TO…, CANNOT_OPEN_FILE, CANNOT_FSYNC,
 * CANNOT_ALLOCATE_MEMORY, TOO_MANY_SIMULTANEOUS_QUERIES, NETWORK_ERROR, ABORTED, MEMORY_LIMIT_EXCEEDED,
 * TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE, TOO_MANY_PARTS, CANNOT_SCHEDULE_TASK, KEEPER_EXCEPTION, STD_EXCEPTION.
 */
const FOR_NOW = '74 75 76 84 173 202 210 236 241 242 243 252 439 999 1001'.split(' ');
const TOO_MANY_DAYS = /too many partitions for single insert/i;
/** UNKNOWN_TABLE, UNKNOWN_DATABASE. */
const MISSING = ['60', '81'];

export type FaultKind = 'absent' | 'away' | 'slow' | 'refused';

export function judgeFault(error: unknown): Exclude<FaultKind, 'absent'> {
  const { message, code } = error as Error & { code?: unknown };
  return error instanceof ClickHouseError ? kindOf(String(code), message) : kindOfTransport(message, code);
}

/** If all of several addresses fail, the error of Node has no message of its own. */
export function wordsOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

/** True if the tables do not exist, because they were not created yet or the store was emptied. */
export function lacksTables(error: unknown): boolean {
  return error instanceof ClickHouseError && MISSING.includes(String(error.code));
}

function kindOf(code: string, message: string): 'away' | 'slow' | 'refused' {
  if (TOO_MANY_DAYS.test(message)) return 'refused'; // has the code of too many parts, which merges resolve
  if (SLOW.includes(code)) return 'slow';
  return FOR_NOW.includes(code) ? 'away' : 'refused';
}

/** The client reports its own timeout, and responses that are not ClickHouse errors, only in the message. */
function kindOfTransport(message: string, code: unknown): 'away' | 'slow' {
  if (/^Timeout error/i.test(message) || code === 'ETIMEDOUT') return 'slow';
  return 'away';
}
