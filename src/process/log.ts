// The log: one JSON object a line on standard output. Passwords in URLs and tokens are taken out of every line, wherever they came
// from (a driver's error message, say), and no line is longer than MAX_LINE_CHARACTERS.

import { type DestinationStream, type Logger, pino } from 'pino';
import { hidePasswords, hideTokens } from './hide-passwords.ts';

export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_LINE_CHARACTERS = 32_768;
const MAX_TEXT_CHARACTERS = 4096;

export function openLog(
  process_: string,
  level: LogLevel,
  destination: DestinationStream = process.stdout,
): Log {
  // Hidden before it is cut: half a URL does not show that it has a password.
  const hiding = { write: (line: string) => destination.write(shortenLine(hideTokens(hidePasswords(line)))) };
  return pino({ level, base: { process: process_ }, serializers: { err: printFault } }, hiding);
}

/** As pino does it, but for the reasons of a fault: one that its message says is not told again. */
function printFault(error: Error): unknown {
  const printed: unknown = pino.stdSerializers.err(error);
  if (error instanceof Error) (printed as { message: string }).message = reasonsOf(error);
  return printed;
}

function reasonsOf(error: Error): string {
  let text = error.message;
  const seen = new Set<unknown>([error]);
  for (let { cause } = error; cause instanceof Error && !seen.has(cause); { cause } = cause) {
    seen.add(cause);
    if (!text.includes(cause.message)) text += `: ${cause.message}`;
  }
  return text;
}

/** Cuts long texts in the line; if that is not enough, keeps only its time, process and message. */
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
