// Listens for edge nodes, at the addresses of the API or at separate addresses. TLS may end in this process: a
// renewed certificate is then loaded while it runs.

import type { FastifyInstance } from 'fastify';
import type { ServerLimits } from '../process/http/bounded-server.ts';
import type { ListenAddress } from '../process/listen-address.ts';
import { listenFault } from '../process/listen-fault.ts';
import type { Log } from '../process/reconnect.ts';
import type { ProcessUser } from '../process/run-as.ts';
import { StartFault } from '../process/start-fault.ts';
import { openTlsFiles } from '../process/tls-files.ts';
import { isEdgePath } from './http/admit-edge.ts';
import { type HttpListeners, listenHttp } from './http/listen.ts';

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
  {
    limits,
    onError,
    log,
    user,
  }: {
    limits: ServerLimits;
    onError: (error: Error) => void;
    log: Log;
    /** The user that the process switches to after the start. */
    user?: ProcessUser | undefined;
  },
): Promise<HttpListeners | undefined> {
  const { edgeListen, edgeTlsCert, edgeTlsKey } = settings;
  if (edgeListen.length === 0) {
    if ((edgeTlsCert ?? edgeTlsKey) !== undefined) throw new StartFault('EDGE_TLS_CERT: set EDGE_LISTEN too');
    return undefined;
  }
  const tls = await openTlsFiles({ prefix: 'EDGE_TLS', cert: edgeTlsCert, key: edgeTlsKey, user, log });
  const listeners = await listenHttp(app, edgeListen, {
    limits,
    onError,
    tls: tls?.pair,
    serves: isEdgePath,
  }).catch((error: unknown) => {
    throw listenFault('EDGE_LISTEN', error);
  });
  if (tls === undefined) return listeners;
  tls.watch(listeners.renew);
  return {
    ...listeners,
    async close(drainMs) {
      tls.close();
      await listeners.close(drainMs);
    },
  };
}
