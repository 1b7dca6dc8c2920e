// DNS over HTTPS with HTTP/1.1.

import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type DohConnection, errorResponse } from './doh-connection.ts';
import type { DohConnections } from './doh-connections.ts';
import { DohExchange } from './doh-exchange.ts';
import { MAX_HEAD_OCTETS } from './read-doh-request.ts';

/** Number of requests that a client may send before the first response. A connection with more is ended. */
const MAX_PIPELINED = 16;
/** Time for a peer to read the error that ends its connection. */
const LAST_WORDS_MS = 1000;
/** Return value with which Node stops parsing, because the rest is another protocol. */
const SKIP_REST = 2;

interface Served {
  readonly connection: DohConnection;
  readonly progress: {
    /** Number of requests without a response. */
    requests: number;
    /** True if the connection ends after the next response. */
    isEnding: boolean;
  };
}

/** Returns a function that serves a socket. */
export function http1Server(owner: DohConnections, idleTimeoutMs: number): (socket: Socket) => void {
  const sockets = new WeakMap<Socket, Served>();
  const server = createServer(
    { maxHeaderSize: MAX_HEAD_OCTETS, keepAliveTimeout: idleTimeoutMs },
    (request, response) => {
      const { socket } = request;
      const served = sockets.get(socket);
      if (served === undefined || socket.destroyed) return stopParsing(socket);
      const { progress } = served;
      progress.requests++;
      response.once('close', () => {
        progress.requests--;
        if (progress.isEnding && progress.requests === 0) socket.end();
      });
      if (progress.requests > MAX_PIPELINED) {
        served.connection.destroy();
        stopParsing(socket);
      } else serve(request, response, served, owner);
    },
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, socket, owner);
  });
  return (socket) => {
    const progress = { requests: 0, isEnding: false };
    const connection = owner.admit(socket, {
      end() {
        progress.isEnding = true;
        if (progress.requests === 0) socket.end();
      },
      finish() {
        progress.isEnding = true;
      },
      destroy: () => void socket.destroy(),
    });
    if (connection === undefined) return;
    sockets.set(socket, { connection, progress });
    server.emit('connection', socket);
  };
}

/**
 * Skips requests that were received together with the last one. Otherwise Node would create objects for thousands of them,
 * and keep them until all other sockets are read.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: () => number } | null }; // not documented
  if (parser) parser.onIncoming = () => SKIP_REST;
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { connection, progress }: Served,
  owner: DohConnections,
): void {
  const exchange = new DohExchange(connection, owner, ({ status, headers, body }) => {
    if (progress.isEnding && progress.requests === 1) response.shouldKeepAlive = false;
    response.writeHead(status, headers).end(body);
  });
  response.on('error', () => {}); // 'close' follows
  response.once('close', () => exchange.close());
  const { method, url: target = '', headers } = request;
  exchange.begin({ method, target, headers, octets: 0 }, request); // Node has limited the header
}

/** Responds to input that is not HTTP, with only a socket and no request. */
function refuse(status: 400 | 431, socket: Socket, owner: DohConnections): void {
  owner.countStatus(status);
  const { headers, body } = errorResponse(status);
  const fields = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref(); // otherwise it would wait for the peer to close
}
