// The sockets of an HTTP server: several addresses, one server behind them. Closing lets requests that have begun come to
// their end.

import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface HttpAddress {
  readonly address: string;
  readonly port: number;
}

export interface HttpListeners {
  readonly addresses: readonly HttpAddress[];
  /** Takes no new connection; what is not answered after `drainMs` is cut. */
  close(drainMs: number): Promise<void>;
}

const LIMITS = {
  requestTimeout: 120_000, // 32 MiB at 2.2 Mbit/s
  headersTimeout: 30_000,
  keepAliveTimeout: 72_000, // longer than that of usual load balancers, which must be first
};
const IDLE_POLL_MS = 20;

/** Rejects when one of the addresses cannot be had. */
export async function listenHttp(
  app: FastifyInstance,
  addresses: readonly HttpAddress[],
): Promise<HttpListeners> {
  let closing = false;
  const servers: Server[] = [];
  const close = async (drainMs: number): Promise<void> => {
    closing = true;
    await Promise.all(servers.map((server) => drain(server, drainMs)));
  };
  try {
    for (const { address: host, port } of addresses) {
      const server = createServer(LIMITS, (request, response) => {
        if (closing) response.setHeader('Connection', 'close');
        app.routing(request, response);
      });
      server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
        refuseUnreadable(error, socket),
      );
      await new Promise<void>((done, fail) => {
        server.once('error', fail);
        server.listen({ host, port }, done);
      });
      server.removeAllListeners('error');
      server.on('error', () => {}); // a failed accept: the client tries again
      servers.push(server);
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  const bound = servers.map((server) => server.address() as AddressInfo);
  return { addresses: bound.map(({ address, port }) => ({ address, port })), close };
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}

/** What is not even HTTP: there is no request to answer, only a socket. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, words] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the header is too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request did not come in time']
        : ['400 Bad Request', 'this is not a valid HTTP request'];
  const body = JSON.stringify({ error: words });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  );
}
