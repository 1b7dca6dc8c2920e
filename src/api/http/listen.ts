// The sockets of an HTTP server: several addresses in front of one server. Closing lets running requests finish.

import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createBoundedServer, type ServerLimits, type ServerTls } from '../../process/http/bounded-server.ts';
import type { ListenAddress } from '../../process/listen-address.ts';
import type { Route } from '../calls/route.ts';
import { publicWritesAside } from './aside.ts';

export interface HttpListeners {
  readonly addresses: readonly ListenAddress[];
  /** Uses this certificate for new connections. */
  renew(tls: ServerTls): void;
  /** Stops accepting connections. Requests that are not answered after `drainMs` are cut. */
  close(drainMs: number): Promise<void>;
}

/** The limits of each address. `connections` and `perNetwork` are settings. */
export const API_LIMITS: ServerLimits = {
  connections: 2000,
  perNetwork: 200,
  unreadBytes: 64 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000, // 32 MiB at 2.2 Mbit/s
  keepAliveTimeoutMs: 72_000, // longer than that of common load balancers, which must close first
};
const IDLE_POLL_MS = 20;
/** Connections that the system holds until they are accepted. Clients retry slowly if one is dropped. */
const BACKLOG = 4096;

/** A path without a route. */
const NOWHERE = '/%00';

interface ListenOptions {
  readonly limits?: ServerLimits;
  /** If set, these addresses accept only TLS. */
  readonly tls?: ServerTls | undefined;
  /** Returns true for the paths that these addresses serve. Any other path is treated as one without a route. */
  readonly serves?: (path: string) => boolean;
  /** Their public calls are started in between other calls. */
  readonly routes?: readonly Route[];
  /** Called if a connection could not be accepted. The client retries. */
  readonly onError?: (error: Error) => void;
}

/** Rejects if it cannot listen on one of the addresses. */
export async function listenHttp(
  app: FastifyInstance,
  addresses: readonly ListenAddress[],
  { limits = API_LIMITS, tls, serves = () => true, routes = [], onError = () => {} }: ListenOptions = {},
): Promise<HttpListeners> {
  let closing = false;
  const servers: Server[] = [];
  const handler = publicWritesAside(routes, (request, response) => {
    if (closing) response.setHeader('Connection', 'close');
    // Decided before the router, so that the path has no route here.
    if (!serves(request.url ?? '')) request.url = NOWHERE;
    app.routing(request, response);
  });
  const close = async (drainMs: number): Promise<void> => {
    closing = true;
    await Promise.all(servers.map((server) => drain(server, drainMs)));
  };
  try {
    for (const { address: host, port } of addresses) {
      const server = createBoundedServer(limits, handler, tls);
      await new Promise<void>((done, fail) => {
        server.once('error', fail);
        server.listen({ host, port, backlog: BACKLOG }, done);
      });
      server.removeAllListeners('error');
      server.on('error', onError);
      servers.push(server);
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  const bound = servers.map((server) => server.address() as AddressInfo);
  return {
    addresses: bound.map(({ address, port }) => ({ address, port })),
    renew(next) {
      for (const server of servers)
        if ('setSecureContext' in server) (server as TlsServer).setSecureContext(next);
    },
    close,
  };
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
