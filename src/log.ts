// The log: one JSON object a line on standard output. Passwords in URLs are taken out of every line, wherever they came
// from (a driver's error message, say).

import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function openLog(
  process_: string,
  level: LogLevel,
  destination: DestinationStream = process.stdout,
): Log {
  const hiding = { write: (line: string) => destination.write(hidePasswords(line)) };
  return pino({ level, base: { process: process_ } }, hiding);
}

/** `postgres://user:secret@host` becomes `postgres://user:***@host`; `?password=` likewise. */
export function hidePasswords(text: string): string {
  return text
    .replaceAll(/(\w:\/\/[^\s/:@"\\]*):[^\s"\\]*@/g, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}
