// Starts the TLS thread if the settings require it. Otherwise its code, and that of node:tls, is not even loaded.

import type { ListenAddress } from '../process/listen-address.ts';
import { listenFault } from '../process/listen-fault.ts';
import type { Log } from '../process/reconnect.ts';
import type { ProcessUser } from '../process/run-as.ts';
import { StartFault } from '../process/start-fault.ts';
import type { TlsFiles } from '../process/tls-files.ts';
import type { StartTlsOptions, TlsThread } from './tls/start-tls-thread.ts';

export interface TlsSettings {
  readonly dotListen: readonly ListenAddress[];
  readonly dohListen: readonly ListenAddress[];
  readonly dohPlainListen: readonly ListenAddress[];
  readonly dnsTlsCert: string | undefined;
  readonly dnsTlsKey: string | undefined;
}

type ThreadParts = Omit<StartTlsOptions['thread'], 'dotListen' | 'dohListen' | 'dohPlainListen'>;

/**
 * Loads the certificate. Returns undefined if none is required. Throws StartFault if the settings do not fit together, or
 * the files cannot be used.
 */
export async function openDnsTlsFiles(
  settings: Omit<TlsSettings, 'dohPlainListen'> & {
    readonly user: ProcessUser | undefined;
    readonly log: Log;
  },
): Promise<TlsFiles | undefined> {
  const { dotListen, dohListen, dnsTlsCert: cert, dnsTlsKey: key, user, log } = settings;
  const listens = dotListen.length > 0 ? 'DOT_LISTEN' : dohListen.length > 0 ? 'DOH_LISTEN' : undefined;
  const hasFile = (cert ?? key) !== undefined;
  if (listens === undefined) {
    if (hasFile) throw new StartFault('DNS_TLS_CERT: set DOT_LISTEN or DOH_LISTEN too');
    return undefined;
  }
  if (!hasFile) throw new StartFault(`${listens}: expected DNS_TLS_CERT and DNS_TLS_KEY`);
  const { openTlsFiles } = await import('../process/tls-files.ts');
  return await openTlsFiles({ prefix: 'DNS_TLS', cert, key, user, log });
}

/** Throws StartFault if another program listens on one of the addresses. */
export async function tryTlsAddresses({ dotListen, dohListen, dohPlainListen }: TlsSettings): Promise<void> {
  const addresses = { DOT_LISTEN: dotListen, DOH_LISTEN: dohListen, DOH_PLAIN_LISTEN: dohPlainListen };
  const { tryAddresses } = await import('./try-addresses.ts');
  for (const [setting, listen] of Object.entries(addresses))
    await tryAddresses(listen, 'tcp').catch((error) => {
      throw listenFault(setting, error);
    });
}

/** Returns undefined if the node does not serve TLS or HTTPS. */
export async function startTls(
  settings: TlsSettings,
  options: Omit<StartTlsOptions, 'thread'> & { readonly thread: ThreadParts },
): Promise<TlsThread | undefined> {
  const { dotListen, dohListen, dohPlainListen } = settings;
  if (dotListen.length + dohListen.length + dohPlainListen.length === 0) return undefined;
  const { startTlsThread } = await import('./tls/start-tls-thread.ts');
  return await startTlsThread({
    ...options,
    thread: { ...options.thread, dotListen, dohListen, dohPlainListen },
  });
}
