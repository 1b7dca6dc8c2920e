// The log: one JSON object per line on standard output. Passwords in URLs and tokens are removed from every line, including
// error messages of drivers, and lines have at most MAX_LINE_CHARACTERS.

import {
  type DestinationStream,
  type LevelWithSilent,
  type LogFn,
  type Logger,
  pino,
  type SerializedError,
} from 'pino';
import { hidePasswords, hideTokens } from './hide-passwords.ts';

export type Log = Logger;

/** Lines from this level on, in pino's numbers, report program errors and include the stack of their error. */
const ERROR_LEVEL = 50;
const INFO_LEVEL = 30;
const MAX_LINE_CHARACTERS = 32_768;
const MAX_TEXT_CHARACTERS = 4096;

export function openLog(
  process_: string,
  level: LevelWithSilent,
  destination: DestinationStream = process.stdout,
): Log {
  // Hidden before truncation: half a URL does not show that it contains a password.
  const hiding = { write: (line: string) => destination.write(shortenLine(hideTokens(hidePasswords(line)))) };
  return pino(
    { level, base: { process: process_ }, serializers: { err: printFault }, hooks: { logMethod: logLine } },
    hiding,
  );
}

/** Omits the stack from notices and warnings, because the operator or the network causes them. */
function logLine(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const [first, ...rest] = args as [unknown, ...unknown[]];
  const fields = first instanceof Error ? { err: first } : (first as { readonly err?: unknown } | undefined);
  const error = fields?.err;
  if (level < INFO_LEVEL || level >= ERROR_LEVEL || !(error instanceof Error)) {
    method.apply(this, args);
    return;
  }
  const [message = error.message, ...values] = rest as [string?, ...unknown[]];
  method.call(this, { ...fields, err: withoutStack(printFault(error)) }, message, ...values);
}

function withoutStack(printed: object): object {
  const { stack: _, aggregateErrors, ...kept } = printed as { stack?: string; aggregateErrors?: object[] };
  return aggregateErrors === undefined
    ? kept
    : { ...kept, aggregateErrors: aggregateErrors.map(withoutStack) };
}

/** Adds the reasons that the message of the error does not contain. */
function printFault(error: unknown): object {
  if (!(error instanceof Error)) return error as object; // already printed by `logLine`
  return shortForm({ ...pino.stdSerializers.err(error), message: reasonsOf(error) });
}

/** Keeps no other members, because drivers attach connections with their secrets, and texts of statements. */
function shortForm({ type, message, code, stack, aggregateErrors }: SerializedError): object {
  return { type, message, code, stack, aggregateErrors: aggregateErrors?.map(shortForm) };
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

/** Truncates long texts in the line. If that is not sufficient, keeps only its time, process and message. */
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
