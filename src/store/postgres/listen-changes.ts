// Hears of commits: the connection that listens for what `announce-changes.ts` sends. While it is away nothing is heard, so
// whoever uses it looks by a timer too.

import { createBackoff, pauseUnless } from '../../process/reconnect.ts';
import { CHANGES_CHANNEL, PROGRESS_CHANNEL } from './announce-changes.ts';
import { connect } from './connection.ts';

export interface Listening {
  stop(): Promise<void>;
}

interface ListenOptions {
  readonly applicationName: string;
  readonly onChange: () => void;
  /** Hears of the progress of checks too, with what the worker says of it. */
  readonly onProgress?: (text: string) => void;
}

/** Returns at once, and connects again for as long as it is not stopped. */
export function listenChanges(databaseUrl: string, options: ListenOptions): Listening {
  const stopping = new AbortController();
  const running = listenUntil(stopping.signal, databaseUrl, options);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** How often the connection is tried while nothing is heard: one that was cut silently is found by that. */
const PROBE_MS = 5000;

async function listenUntil(
  signal: AbortSignal,
  databaseUrl: string,
  { applicationName, onChange, onProgress }: ListenOptions,
): Promise<void> {
  const backoff = createBackoff();
  const onNotification = ({ channel, payload = '' }: { channel: string; payload?: string | undefined }) => {
    if (channel === PROGRESS_CHANNEL) onProgress?.(payload);
    else onChange();
  };
  while (!signal.aborted) {
    try {
      const connection = await connect(databaseUrl, { applicationName, onNotification, signal });
      try {
        await connection.query(`listen ${CHANGES_CHANNEL}`);
        if (onProgress !== undefined) await connection.query(`listen ${PROGRESS_CHANNEL}`);
        backoff.reset();
        onChange(); // what was announced before is not heard
        while (connection.isOpen() && !signal.aborted) {
          await Promise.race([connection.ended, pauseUnless(signal, PROBE_MS)]);
          if (connection.isOpen() && !signal.aborted) await connection.query('select 1');
        }
      } finally {
        await connection.close();
      }
    } catch {
      // the timers of whoever listens do the work meanwhile, and tell of the outage
    }
    if (!signal.aborted) await pauseUnless(signal, backoff.nextMs());
  }
}
