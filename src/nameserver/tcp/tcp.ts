// Answers over TCP (RFC 7766) and TLS with node:net. Everything is bounded: connections, their input, their unread output,
// their time, and the queries per second of one client. Answers are sent in the order of the queries, unless the transfer
// thread makes them.

import { createServer, type Server, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ListenAddress } from '../../process/listen-address.ts';
import { descriptorOf, type InheritedAddress } from '../handover/inherited.ts';
import { DEFAULT_TCP_LIMITS, LimitedConnections, type TcpLimits } from './limited-connections.ts';
import { closeServers, openServers } from './open-servers.ts';
import { type PassedConnection, passConnections } from './pass-connections.ts';
import { type TcpAnswers, TcpConnection } from './tcp-connection.ts';

export interface TcpListener {
  readonly addresses: readonly ListenAddress[];
  connections(): number;
  /** The listening sockets, in the order of the addresses. */
  readonly descriptors: readonly number[];
  /** Takes over a connection from another process. `input` is what that process has read but not answered. */
  adopt(descriptor: number, input: Buffer): void;
  /** Stops accepting connections. Another process accepts on the same sockets. */
  stopAccepting(): void;
  /**
   * Yields connections to pass to another process; they are closed here when the next ones are requested. The rest are ended.
   */
  passConnections(): AsyncGenerator<PassedConnection[]>;
  /** Resolves when no connection is left, or after the idle timeout. */
  finished(): Promise<void>;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}

interface TcpOptions {
  readonly limits?: TcpLimits;
  /** In milliseconds. */
  readonly now?: () => number;
  /** Sockets of the process that this one replaces. */
  readonly inherited?: readonly InheritedAddress[];
  /** Creates a server that passes its connections to `accept`. Default: a TCP server. */
  readonly createServer?: (accept: (socket: Socket) => void) => Server;
}

const CLOSE_GRACE_MS = 500;
const FINISHED_POLL_MS = 20;

class Connections extends LimitedConnections<TcpConnection> {
  readonly answers: TcpAnswers;

  constructor(answers: TcpAnswers, limits: TcpLimits, now: () => number) {
    super(answers.counters, limits, now, false);
    this.answers = answers;
  }

  /** Returns undefined if the socket was destroyed because of a limit. */
  admit(socket: Socket): TcpConnection | undefined {
    const client = this.accept(socket);
    if (client === undefined) return undefined;
    const connection = new TcpConnection(socket, client.address, client.network, this);
    this.add(connection);
    return connection;
  }

  /** Ends idle connections, and those that do not read. */
  sweep(): void {
    const nowMs = this.now();
    for (const connection of this) {
      if (nowMs - connection.progressAt < this.limits.idleTimeoutMs) break; // all others are newer
      if (connection.isBusy(nowMs)) continue;
      this.counters.tcpExpired++;
      connection.destroy();
    }
    for (const connection of this) connection.sweep();
    this.forgetNetworks();
  }
}

/** Listens on all addresses. If one of them fails, rejects and listens on none. */
export async function listenTcp(
  addresses: readonly ListenAddress[],
  answers: TcpAnswers,
  {
    limits = DEFAULT_TCP_LIMITS,
    now = () => performance.now(),
    inherited = [],
    createServer = createTcpServer,
  }: TcpOptions = {},
): Promise<TcpListener> {
  const connections = new Connections(answers, limits, now);
  const servers = await openServers(addresses, inherited, {
    create: () => createServer((socket) => void connections.admit(socket)),
    onError: () => answers.counters.tcpRefused++, // accept failed, usually for lack of descriptors
  });
  const sweep = setInterval(
    () => connections.sweep(),
    Math.max(20, Math.min(1000, limits.idleTimeoutMs / 4)),
  );
  sweep.unref();
  return {
    addresses: servers.map((server) => server.address() as { address: string; port: number }),
    connections: () => connections.size,
    descriptors: servers.map(descriptorOf),
    adopt(descriptor, input) {
      connections.admit(new Socket({ fd: descriptor, allowHalfOpen: true }))?.attach(input);
    },
    stopAccepting() {
      for (const server of servers) server.close();
    },
    passConnections: () => passConnections(connections),
    async finished() {
      const deadline = now() + limits.idleTimeoutMs;
      while (connections.size > 0 && now() < deadline) await pause(FINISHED_POLL_MS);
    },
    async close() {
      clearInterval(sweep);
      connections.turns.close();
      const closed = closeServers(servers);
      for (const connection of connections) connection.endWhenWritten();
      const force = setTimeout(() => {
        for (const connection of connections) connection.destroy();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(force);
    },
  };
}

function createTcpServer(accept: (socket: Socket) => void): Server {
  // Half-open: a client that ends its side after its last query still gets the answers.
  return createServer({ allowHalfOpen: true, noDelay: true }, accept);
}
