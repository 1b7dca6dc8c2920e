// An HTTP server with limits on connections, on the time for each request and response, and on concurrent requests per
// connection (one). `connections.ts` decides, and `rounds.ts` orders the work. This file handles sockets and the clock.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ANSWER_HEADERS } from './answer-headers.ts';
import { type Connection, type ConnectionLimits, Connections, networkOf, type Wire } from './connections.ts';
import { Rounds } from './rounds.ts';

export interface ServerLimits extends ConnectionLimits {
  /** Time for a complete header, from its first byte or from the start of the connection. */
  readonly headersTimeoutMs: number;
  /** Time for a complete request with its body. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const SWEEP_MS = 1000;
/** Number of requests that a client may send before the first response. A connection with more is closed. */
const MAX_PIPELINED = 4;
/** Maximum bytes of such requests on all connections. A connection that exceeds it is closed. */
const MAX_PIPELINED_BYTES = 8 << 20;
/** Makes the parser report an error. */
const STOP_PARSING = -1;
/** Memory that Node uses per request besides its header. */
const REQUEST_BYTES = 4096;
/** Time for a peer to read the error that ends its connection. */
const LAST_WORDS_MS = 1000;

const trusted = new WeakSet<object>();

/** Marks a connection whose caller has sent a valid key. Trusted connections are closed last. */
export function trustConnection(socket: object): void {
  trusted.add(socket);
}

/** Time limit of a TLS handshake. Until it ends, a connection counts only towards the total. */
const HANDSHAKE_MS = 10_000;

/** PEM. With TLS, the server accepts nothing else. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
}

/** Creates the server without listening. The caller listens and handles its errors. */
export function createBoundedServer(limits: ServerLimits, handler: Handler, tls?: ServerTls): Server {
  const connections = new Connections(limits);
  const rounds = new Rounds();
  const queues = new WeakMap<Socket, RequestQueue>();
  const pipelined = { bytes: 0 };
  const options = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(SWEEP_MS, limits.headersTimeoutMs), // default: 30 s
  };
  const take: Handler = (request, response) => {
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.setHeader(name, value);
    queues.get(request.socket)?.take(request, response);
  };
  const server: Server =
    tls === undefined
      ? createServer(options, take)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.2' }, take);
  // Leaves room for connections being closed. Node drops new ones above this number.
  server.maxConnections = limits.connections + 64;
  const admit = (socket: Socket) => {
    const connection = connections.open(networkFrom(socket), new SocketWire(socket), performance.now());
    if (connection === undefined) return void cut(socket);
    const queue = new RequestQueue(connection, { connections, rounds, pipelined, handler });
    queues.set(socket, queue);
    socket.once('close', () => {
      queue.clear();
      connections.close(connection);
    });
  };
  // Node's own listener reads the socket or starts the TLS handshake. It is called when the connection's turn comes.
  const [begin] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeAllListeners('connection');
  Object.assign(server, { pauseOnConnect: true });
  server.on('connection', (socket: Socket) => {
    rounds.noteAccepted();
    if (tls === undefined) admit(socket);
    rounds.run(networkFrom(socket), () => {
      if (socket.destroyed) return;
      if (!server.listening) return void cut(socket);
      begin.call(server, socket);
      if (tls === undefined) start(socket);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    admit(socket);
    start(socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseUnreadable(error, socket));
  let sweeping: NodeJS.Timeout | undefined;
  server.on('listening', () => {
    sweeping = setInterval(() => connections.sweep(performance.now()), SWEEP_MS).unref();
  });
  server.on('close', () => clearInterval(sweeping));
  return server;
}

interface QueueOwner {
  readonly connections: Connections;
  readonly rounds: Rounds;
  /** Total of the waiting requests on all connections. */
  readonly pipelined: { bytes: number };
  readonly handler: Handler;
}

/**
 * Node starts every request that it has read. This queue delays the next request of a connection until the previous one has
 * ended.
 */
class RequestQueue {
  readonly #connection: Connection;
  readonly #owner: QueueOwner;
  #waiting: [IncomingMessage, ServerResponse][] = [];
  #waitingBytes = 0;
  #isNew = true;
  #isBusy = false;

  constructor(connection: Connection, owner: QueueOwner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed) return;
    const { rounds, pipelined } = this.#owner;
    if (!this.#isBusy) {
      this.#isBusy = true;
      // The first request of a connection need not wait, because the connection has just been started.
      if (this.#isNew) this.#begin(request, response);
      else rounds.run(this.#connection.network, () => this.#begin(request, response));
      this.#isNew = false;
      return;
    }
    const bytes = bytesOf(request);
    pipelined.bytes += bytes;
    this.#waitingBytes += bytes;
    if (this.#waiting.push([request, response]) <= MAX_PIPELINED && pipelined.bytes <= MAX_PIPELINED_BYTES)
      return;
    this.clear();
    this.#connection.wire.cut();
  }

  clear(): void {
    this.#owner.pipelined.bytes -= this.#waitingBytes;
    this.#waitingBytes = 0;
    this.#waiting = [];
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed) return;
    const { connections, handler } = this.#owner;
    const connection = this.#connection;
    connection.usedAtMs = performance.now();
    connection.exchange = {
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
    response.once('prefinish', () => connections.countUnread(connection)); // the whole response is written to the socket
    response.once('close', () => {
      connections.countUnread(connection);
      connection.usedAtMs = performance.now();
      const next = request.socket.destroyed ? undefined : this.#waiting.shift();
      this.#isBusy = next !== undefined;
      if (next === undefined) return;
      const bytes = bytesOf(next[0]);
      this.#waitingBytes -= bytes;
      this.#owner.pipelined.bytes -= bytes;
      this.#owner.rounds.count();
      this.#begin(...next); // immediately, because the memory of long-lived objects is released late
    });
    handler(request, response);
  }
}

function bytesOf({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, REQUEST_BYTES + url.length);
}

/** Starts reading the connection, which Node's own listener now handles. */
function start(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: (...args: unknown[]) => number } | null };
  if (parser) {
    const { onIncoming } = parser;
    // Otherwise Node would create a request and a response for data already read from a closed connection.
    parser.onIncoming = (...args) => (socket.destroyed ? STOP_PARSING : onIncoming(...args));
  }
  socket.resume();
}

function networkFrom(socket: Socket): string {
  return networkOf(socket.remoteAddress ?? '::');
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
    // The stream counts a large chunk as written immediately. The handle's queue shows how much the system has not
    // accepted.
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

/** Resets the connection: after a normal close, the system would keep unread data. Node cannot reset TLS connections. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Responds to input that is not HTTP, with only a socket and no request. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, words] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the request header is too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request was not received in time']
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
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref(); // otherwise it would wait for the peer to close
}
