// The log of a thread: posts its lines to the thread that started it.

import type { Log } from '../../process/reconnect.ts';

export interface LogMessage {
  readonly kind: 'log';
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export function createThreadLog(post: (line: LogMessage) => void): Log {
  const logAt = (level: keyof Log) => (fields: object, message: string) => {
    const { code } = ((fields as { err?: unknown }).err ?? {}) as NodeJS.ErrnoException;
    // An error passed to another thread keeps only its message and its stack.
    post({ kind: 'log', level, fields: code === undefined ? fields : { ...fields, code }, message });
  };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}
