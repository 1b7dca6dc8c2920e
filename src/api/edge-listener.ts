// Listens for edge nodes, at the addresses of the API or at separate addresses. TLS may end in this process: a
// renewed certificate is then loaded while it runs.

import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { ServerLimits, ServerTls } from '../process/http/bounded-server.ts';
import type { ListenAddress } from '../process/listen-address.ts';
import { listenFault } from '../process/listen-fault.ts';
import type { Log } from '../process/reconnect.ts';
import { StartFault } from '../process/start-fault.ts';
import { isEdgePath } from './http/admit-edge.ts';
import { type HttpListeners, listenHttp } from './http/listen.ts';

const RELOAD_MS = 60_000;

interface EdgeSettings {
  readonly edgeListen: readonly ListenAddress[];
  readonly edgeTlsCert: string | undefined;
  readonly edgeTlsKey: string | undefined;
}

/** Returns a filter for the paths that API_LISTEN serves, or nothing if it serves all paths. */
export function pathsBesideEdges({ edgeListen }: EdgeSettings): { serves?: (path: string) => boolean } {
  return edgeListen.length === 0 ? {} : { serves: (url) => !isEdgePath(url) };
}

/** Returns undefined if EDGE_LISTEN is not set. */
export async function listenForEdges(
  app: FastifyInstance,
  settings: EdgeSettings,
  { limits, onError, log }: { limits: ServerLimits; onError: (error: Error) => void; log: Log },
): Promise<HttpListeners | undefined> {
  const { edgeListen, edgeTlsCert, edgeTlsKey } = settings;
  if ((edgeTlsCert === undefined) !== (edgeTlsKey === undefined))
    throw new StartFault('EDGE_TLS_CERT and EDGE_TLS_KEY: set both, or none');
  if (edgeListen.length === 0) {
    if (edgeTlsCert !== undefined) throw new StartFault('EDGE_TLS_CERT: set EDGE_LISTEN too');
    return undefined;
  }
  const load = async (): Promise<ServerTls | undefined> => {
    if (edgeTlsCert === undefined || edgeTlsKey === undefined) return undefined;
    return { cert: await readFile(edgeTlsCert, 'utf8'), key: await readFile(edgeTlsKey, 'utf8') };
  };
  const tls = await load().catch((error: Error) => {
    throw new StartFault(`EDGE_TLS_CERT: ${error.message}`);
  });
  const listeners = await listenHttp(app, edgeListen, { limits, onError, tls, serves: isEdgePath }).catch(
    (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code?.startsWith('ERR_OSSL') === true || code?.startsWith('ERR_TLS') === true)
        throw new StartFault(`EDGE_TLS_CERT: ${(error as Error).message}`);
      throw listenFault('EDGE_LISTEN', error);
    },
  );
  if (tls === undefined) return listeners;
  let shown = tls;
  const reloading = setInterval(async () => {
    try {
      const now = await load();
      if (now === undefined || (now.cert === shown.cert && now.key === shown.key)) return;
      listeners.renew(now);
      shown = now;
      log.info({}, 'loaded the renewed certificate for edges');
    } catch (error) {
      log.warn({ err: error }, 'EDGE_TLS_CERT could not be reloaded: the previous certificate stays in use');
    }
  }, RELOAD_MS).unref();
  return {
    ...listeners,
    async close(drainMs) {
      clearInterval(reloading);
      await listeners.close(drainMs);
    },
  };
}
