// Listens for the notifications that `announce-changes.ts` sends. They are lost while the connection is down, so
// callers must also poll.

import { abortWith } from '../../process/bound-signal.ts';
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
      const over = new AbortController();
      const detach = abortWith(over, signal);
      void connection.ended.then(() => over.abort());
      try {
        for (const channel of channels) await connection.query(`listen ${channel}`);
        backoff.reset();
        onListening();
        while (!over.signal.aborted) {
          await pauseUnless(over.signal, PROBE_MS);
          if (!over.signal.aborted) await connection.query('select 1');
        }
      } finally {
        detach();
        await connection.close();
      }
    } catch {
      // Callers poll meanwhile, and report the outage.
    }
    if (!signal.aborted) await pauseUnless(signal, backoff.nextMs());
  }
}
