// Listens for the notifications that `announce-changes.ts` sends. They are lost while the connection is down, so
// callers must also poll.

import { createBackoff, pauseUnless } from '../../process/reconnect.ts';
import { CHANGES_CHANNEL, PROGRESS_CHANNEL } from './announce-changes.ts';
import { connect } from './connection.ts';

export interface Listening {
  stop(): Promise<void>;
}

interface ListenOptions {
  readonly applicationName: string;
  readonly onChange: () => void;
  /** Also receives the progress of checks, as sent by workers. */
  readonly onProgress?: (text: string) => void;
}

/** Returns immediately, and reconnects until it is stopped. */
export function listenChanges(
  databaseUrl: string,
  { applicationName, onChange, onProgress }: ListenOptions,
): Listening {
  return listenTo(databaseUrl, {
    applicationName,
    channels: onProgress === undefined ? [CHANGES_CHANNEL] : [CHANGES_CHANNEL, PROGRESS_CHANNEL],
    onListening: onChange,
    onNotification: (channel, payload) => {
      if (channel === PROGRESS_CHANNEL) onProgress?.(payload);
      else onChange();
    },
  });
}

interface ChannelOptions {
  readonly applicationName: string;
  readonly channels: readonly string[];
  /** Called after each connection: earlier notifications were missed. */
  readonly onListening: () => void;
  readonly onNotification: (channel: string, payload: string) => void;
}

/** Listens on channels. Returns immediately, and reconnects until it is stopped. */
export function listenTo(databaseUrl: string, options: ChannelOptions): Listening {
  const stopping = new AbortController();
  const running = listenUntil(stopping.signal, databaseUrl, options);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Interval of probes on a silent connection, which detect that it is broken. */
const PROBE_MS = 5000;

async function listenUntil(
  signal: AbortSignal,
  databaseUrl: string,
  { applicationName, channels, onListening, onNotification: onText }: ChannelOptions,
): Promise<void> {
  const backoff = createBackoff();
  const onNotification = ({ channel, payload = '' }: { channel: string; payload?: string | undefined }) =>
    onText(channel, payload);
  while (!signal.aborted) {
    try {
      const connection = await connect(databaseUrl, { applicationName, onNotification, signal });
      try {
        for (const channel of channels) await connection.query(`listen ${channel}`);
        backoff.reset();
        onListening();
        while (connection.isOpen() && !signal.aborted) {
          await Promise.race([connection.ended, pauseUnless(signal, PROBE_MS)]);
          if (connection.isOpen() && !signal.aborted) await connection.query('select 1');
        }
      } finally {
        await connection.close();
      }
    } catch {
      // Callers poll meanwhile, and report the outage.
    }
    if (!signal.aborted) await pauseUnless(signal, backoff.nextMs());
  }
}
