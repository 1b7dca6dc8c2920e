// The log: one JSON object a line on standard output. Passwords in URLs are taken out of every line, wherever they came
// from (a driver's error message, say), and no line is longer than MAX_LINE_CHARACTERS.

import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const MAX_LINE_CHARACTERS = 32_768;
const MAX_TEXT_CHARACTERS = 4096;

export function openLog(
  process_: string,
  level: LogLevel,
  destination: DestinationStream = process.stdout,
): Log {
  // Hidden before it is cut: half a URL does not show that it has a password.
  const hiding = { write: (line: string) => destination.write(shortenLine(hidePasswords(line))) };
  return pino({ level, base: { process: process_ } }, hiding);
}

/**
 * `postgres://user:secret@host` becomes `postgres://user:***@host`; `?password=` likewise. Its work is linear in the
 * text: one pass cuts it into runs of what a URL can be made of, and each run is searched once for each thing.
 */
export function hidePasswords(text: string): string {
  return text
    .replaceAll(/[^\s"\\]+/g, hideInRun)
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

/** A password may contain `:`, `/` and `@`: it goes from the first user's colon to the last `@` of the run. */
function hideInRun(run: string): string {
  const at = run.lastIndexOf('@');
  if (at < 0) return run;
  // A failed attempt ends at the next `/`, `:` or `@`, so that attempts hardly overlap.
  const user = /\w:\/\/[^/:@]*:/.exec(run);
  if (user === null) return run;
  const colon = user.index + user[0].length;
  return colon > at ? run : `${run.slice(0, colon)}***${run.slice(at)}`;
}

/** Long texts in it are cut; if that is not enough, only what says when, where and what is left. */
function shortenLine(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const whole = JSON.parse(line) as Record<string, unknown>;
  const cut = JSON.stringify({ ...whole, cut: line.length }, (_, value) =>
    typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARACTERS) : value,
  );
  if (cut.length < MAX_LINE_CHARACTERS) return `${cut}\n`;
  const { level, time, process: of, msg } = whole;
  const text = typeof msg === 'string' ? msg.slice(0, MAX_TEXT_CHARACTERS) : undefined;
  return `${JSON.stringify({ level, time, process: of, cut: line.length, msg: text })}\n`;
}
