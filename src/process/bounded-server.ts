// An HTTP server with bounds: on connections, on the time that each may take for its request and for reading its
// answer, and one request at a time for each. `connections.ts` decides; this file has the sockets and the clock.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ANSWER_HEADERS } from './answer-headers.ts';
import { type Connection, type ConnectionLimits, Connections, networkOf, type Wire } from './connections.ts';

export interface ServerLimits extends ConnectionLimits {
  /** The time for a whole header, from its first byte or from the connection's beginning. */
  readonly headersTimeoutMs: number;
  /** The time for a whole request with its body. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const SWEEP_MS = 1000;
/** How many requests a client may send before it has the answer to its first; a connection with more is cut. */
const MAX_PIPELINED = 32;
/** How long a peer may take to read the error that ends its connection. */
const LAST_WORDS_MS = 1000;

const trusted = new WeakSet<object>();

/** The caller has shown a valid key: this connection is the last to give way to others. */
export function trustConnection(socket: object): void {
  trusted.add(socket);
}

/** PEM: with TLS, the server speaks nothing else. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
}

/** How long a TLS handshake may take, during which the connection is only counted among all. */
const HANDSHAKE_MS = 10_000;

/** Makes the server without an address: the caller listens, and handles its errors. */
export function createBoundedServer(limits: ServerLimits, handler: Handler, tls?: ServerTls): Server {
  const connections = new Connections(limits);
  const queues = new WeakMap<Socket, RequestQueue>();
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(SWEEP_MS, limits.headersTimeoutMs), // by default 30 s
  };
  const take: Handler = (request, response) => {
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.setHeader(name, value);
    queues.get(request.socket)?.take(request, response);
  };
  const server: Server =
    tls === undefined
      ? createServer(options, take)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.2' }, take);
  // With room for connections that are being cut; Node drops new ones beyond it.
  server.maxConnections = limits.connections + 64;
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '::');
    const connection = connections.open(network, new SocketWire(socket), performance.now());
    if (connection === undefined) return void cut(socket);
    const queue = new RequestQueue(connection, handler);
    queues.set(socket, queue);
    socket.once('close', () => {
      queue.clear();
      connections.close(connection);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseUnreadable(error, socket));
  let sweeping: NodeJS.Timeout | undefined;
  server.on('listening', () => {
    sweeping = setInterval(() => connections.sweep(performance.now()), SWEEP_MS).unref();
  });
  server.on('close', () => clearInterval(sweeping));
  return server;
}

/** Node begins every request that it has read: here the next one of a connection waits for the end of the one before. */
class RequestQueue {
  readonly #connection: Connection;
  readonly #handler: Handler;
  #waiting: [IncomingMessage, ServerResponse][] = [];
  #isBusy = false;

  constructor(connection: Connection, handler: Handler) {
    this.#connection = connection;
    this.#handler = handler;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed) return;
    if (!this.#isBusy) this.#begin(request, response);
    else if (this.#waiting.push([request, response]) > MAX_PIPELINED) {
      this.clear();
      this.#connection.wire.cut();
    }
  }

  clear(): void {
    this.#waiting = [];
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#isBusy = true;
    this.#connection.usedAtMs = performance.now();
    this.#connection.exchange = {
      get isWhole() {
        return request.complete;
      },
      get isHeldByUs() {
        return request.readableLength > 0;
      },
      get isAnswered() {
        return response.writableEnded;
      },
    };
    response.once('close', () => {
      this.#isBusy = false;
      this.#connection.usedAtMs = performance.now();
      const next = this.#waiting.shift();
      if (next !== undefined && !request.socket.destroyed) this.#begin(...next);
    });
    this.#handler(request, response);
  }
}

class SocketWire implements Wire {
  readonly #socket: Socket;
  #partlyTaken = 0;
  #queueBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get isTrusted(): boolean {
    return trusted.has(this.#socket);
  }

  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  get takenBytes(): number {
    // The stream counts a large piece as written at once; the handle's queue says how much of it the system has not taken.
    const { _handle: handle } = this.#socket as unknown as { _handle?: { writeQueueSize?: number } | null };
    const queueBytes = handle?.writeQueueSize ?? 0;
    this.#partlyTaken += Math.max(0, this.#queueBytes - queueBytes);
    this.#queueBytes = queueBytes;
    return this.#socket.bytesWritten - this.#socket.writableLength + this.#partlyTaken;
  }

  get receivedBytes(): number {
    return this.#socket.bytesRead;
  }

  cut(): void {
    cut(this.#socket);
  }
}

/** With a plain end the system would keep what is unread; of TLS, Node can end a connection in no other way. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Answers input that is not HTTP: there is no request, only a socket. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, words] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the header is too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request did not come in time']
        : ['400 Bad Request', 'this is not a valid HTTP request'];
  const body = JSON.stringify({ error: words });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(body.length),
    ...ANSWER_HEADERS,
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref(); // else it would wait until the peer ends its side
}
