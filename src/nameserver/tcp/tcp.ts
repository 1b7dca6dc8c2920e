// Answers over TCP (RFC 7766) and TLS with node:net. Everything is bounded: connections, their input, their unread output,
// their time, and the queries per second of one client. Answers are sent in the order of the queries, unless the transfer
// thread makes them.

import { createServer, type Server, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ListenAddress } from '../../process/listen-address.ts';
import { addressOctets, isLoopback } from '../answer/client.ts';
import { descriptorOf, findInherited, type InheritedAddress } from '../handover/inherited.ts';
import { type Libc, openLibc, SO_RCVBUF, SO_SNDBUF, SOL_SOCKET } from '../threads/libc.ts';
import { type TcpAnswers, TcpConnection, type TcpConnections } from './tcp-connection.ts';
import { type NetworkConnection, networkName, TcpNetwork } from './tcp-network.ts';
import { TcpTurns } from './tcp-turns.ts';

export interface TcpLimits {
  /** Maximum time between two completed queries or answers. Single octets do not count. */
  readonly idleTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Limit per client. Above it, the client is read more slowly. */
  readonly queriesPerSecond: number;
  /** If false, a client on loopback, which may be a proxy for many, has no query limit. */
  readonly limitsLoopback: boolean;
  /**
   * Maximum bytes of unread answers, including those in the system. Above it, the connection that has waited longest is ended.
   */
  readonly maxUnreadBytes: number;
  readonly maxUnreadBytesPerAddress: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = {
  idleTimeoutMs: 10_000,
  maxConnections: 2000,
  maxConnectionsPerAddress: 100,
  queriesPerSecond: 10_000,
  limitsLoopback: false,
  maxUnreadBytes: 64 << 20,
  maxUnreadBytesPerAddress: 4 << 20,
};

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

interface PassedConnection {
  readonly descriptor: number;
  /** Input that was read but not answered. */
  readonly input: Buffer;
}

const CLOSE_GRACE_MS = 500;
const FINISHED_POLL_MS = 20;
/** Limits so that the inputs fit into one message: they are in base64, and the last one may exceed PASSED_OCTETS by 4 KiB. */
const PASSED_AT_ONCE = 200;
const PASSED_OCTETS = 4096;
/** Time to wait for a connection that cannot be passed yet, for example because its peer has not read its answers. */
const PASS_TIMEOUT_MS = 1000;
const PASS_RETRY_MS = 20;
/** Maximum number of connections waiting to be accepted. With fewer, many clients would wait a second to repeat their SYN. */
const BACKLOG = 4096;

/**
 * Sizes of the system's buffers for the answers and queries of a connection, which use twice as much with overhead
 * (tcp(7)). The default is megabytes, while an answer has at most 64 KiB.
 */
const SEND_BUFFER_BYTES = 1 << 16;
const RECEIVE_BUFFER_BYTES = 1 << 15;
/** Memory of the system for a connection that is not read: its send buffer is full. */
const HELD_BY_SYSTEM_BYTES = 2 * SEND_BUFFER_BYTES;

class Listening implements TcpConnections {
  readonly answers: TcpAnswers;
  readonly limits: TcpLimits;
  readonly now: () => number;
  readonly turns: TcpTurns;
  readonly connections = new Set<TcpConnection>();
  readonly networks = new Map<string, TcpNetwork>();
  /** Connections whose answers wait to be read, longest waiting first. */
  readonly #unread = new Set<TcpConnection>();
  #unreadBytes = 0;

  constructor(answers: TcpAnswers, limits: TcpLimits, now: () => number) {
    this.answers = answers;
    this.limits = limits;
    this.now = now;
    this.turns = new TcpTurns(answers.counters, now);
  }

  networkOf(address: Uint8Array): TcpNetwork {
    const name = networkName(address);
    const known = this.networks.get(name);
    if (known !== undefined) return known;
    const { queriesPerSecond, limitsLoopback } = this.limits;
    const isLimited = limitsLoopback || !isLoopback(address);
    return new TcpNetwork(name, isLimited ? queriesPerSecond : Number.POSITIVE_INFINITY, this.now());
  }

  countUnread(connection: TcpConnection, bytes: number): void {
    const { network } = connection;
    const added = this.#unread.has(connection) ? bytes : bytes + HELD_BY_SYSTEM_BYTES;
    this.#unread.add(connection);
    network.unread.add(connection);
    connection.unreadBytes += added;
    this.#unreadBytes += added;
    network.unreadBytes += added;
    if (network.unreadBytes > this.limits.maxUnreadBytesPerAddress) this.#endFirst(network.unread);
    if (this.#unreadBytes > this.limits.maxUnreadBytes) this.#endFirst(this.#unread);
  }

  countRead(connection: TcpConnection): void {
    const { network, unreadBytes } = connection;
    this.#unread.delete(connection);
    network.unread.delete(connection);
    this.#unreadBytes -= unreadBytes;
    network.unreadBytes -= unreadBytes;
    connection.unreadBytes = 0;
  }

  #endFirst(unread: ReadonlySet<NetworkConnection>): void {
    const [longest] = unread;
    if (longest === undefined) return;
    this.answers.counters.tcpUnread++;
    longest.destroy();
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
  const shared = new Listening(answers, limits, now);
  const servers = await openServers(addresses, inherited, {
    create: () => createServer((socket) => accept(socket, shared)),
    onError: () => answers.counters.tcpRefused++, // accept failed, usually for lack of descriptors
  });
  const sweep = setInterval(
    () => {
      endIdle(shared);
      for (const connection of shared.connections) connection.sweep();
      forgetNetworks(shared);
    },
    Math.max(20, Math.min(1000, limits.idleTimeoutMs / 4)),
  );
  sweep.unref();
  return {
    addresses: servers.map((server) => server.address() as { address: string; port: number }),
    connections: () => shared.connections.size,
    descriptors: servers.map(descriptorOf),
    adopt(descriptor, input) {
      accept(new Socket({ fd: descriptor, allowHalfOpen: true }), shared)?.attach(input);
    },
    stopAccepting() {
      for (const server of servers) server.close();
    },
    passConnections: () => passConnections(shared),
    async finished() {
      const deadline = now() + limits.idleTimeoutMs;
      while (shared.connections.size > 0 && now() < deadline) await pause(FINISHED_POLL_MS);
    },
    async close() {
      clearInterval(sweep);
      shared.turns.close();
      const closed = closeServers(servers);
      for (const connection of shared.connections) connection.endWhenWritten();
      const force = setTimeout(() => {
        for (const connection of shared.connections) connection.destroy();
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

interface ServerMaker {
  create(): Server;
  /** Called for errors while the server listens. */
  onError(): void;
}

/** Listens on all addresses, with buffers of limited size. If one of them fails, rejects and listens on none. */
export async function openServers(
  addresses: readonly ListenAddress[],
  inherited: readonly InheritedAddress[],
  { create, onError }: ServerMaker,
): Promise<Server[]> {
  const libc = await openLibc().catch(() => undefined);
  const servers: Server[] = [];
  try {
    for (const address of addresses) {
      const server = create();
      await listen(server, address, findInherited(inherited, address)?.tcp);
      servers.push(server);
      if (libc !== undefined) boundBuffers(libc, server);
      server.removeAllListeners('error');
      server.on('error', onError);
    }
  } catch (error) {
    await closeServers(servers);
    throw error;
  }
  return servers;
}

async function listen(
  server: Server,
  { address, port }: ListenAddress,
  inherited: number | undefined,
): Promise<void> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    const where =
      inherited === undefined
        ? { host: address, port, ipv6Only: address.includes(':'), exclusive: true }
        : { fd: inherited };
    server.listen(where, BACKLOG, done); // `backlog` among the options is ignored with `fd`
  });
}

/**
 * Sets the sizes of the buffers, which Node cannot do. Connections inherit those of the listening socket. Without libc,
 * the system's defaults apply.
 */
function boundBuffers(libc: Libc, server: Server): void {
  const descriptor = descriptorOf(server);
  for (const [option, bytes] of [
    [SO_SNDBUF, SEND_BUFFER_BYTES],
    [SO_RCVBUF, RECEIVE_BUFFER_BYTES],
  ] as const) {
    const value = new Uint8Array(Int32Array.of(bytes).buffer);
    libc.setsockopt(descriptor, SOL_SOCKET, option, value, value.length);
  }
}

/** Resolves when the servers have no connection. */
export async function closeServers(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
}

async function* passConnections(shared: Listening): AsyncGenerator<PassedConnection[]> {
  const deadline = performance.now() + PASS_TIMEOUT_MS;
  for (;;) {
    yield* passOnce(shared);
    if (shared.connections.size === 0) return;
    if (performance.now() > deadline) break;
    await pause(PASS_RETRY_MS);
  }
  for (const connection of shared.connections) connection.finish();
}

function* passOnce(shared: Listening): Generator<PassedConnection[]> {
  let passed: (PassedConnection & { connection: TcpConnection })[] = [];
  let octets = 0;
  for (const connection of [...shared.connections]) {
    const parts = shared.connections.has(connection) ? connection.detach() : undefined;
    if (parts === undefined) continue;
    passed.push({ ...parts, connection });
    octets += parts.input.length;
    if (passed.length < PASSED_AT_ONCE && octets < PASSED_OCTETS) continue;
    yield passed;
    for (const each of passed) each.connection.abandon();
    passed = [];
    octets = 0;
  }
  if (passed.length === 0) return;
  yield passed;
  for (const each of passed) each.connection.abandon();
}

function accept(socket: Socket, shared: Listening): TcpConnection | undefined {
  const { connections, networks, limits } = shared;
  const { counters } = shared.answers;
  shared.turns.noteAccepted();
  const address = socket.remoteAddress; // undefined if the peer has already disconnected
  const octets = address === undefined ? undefined : addressOctets(address);
  const network = octets === undefined ? undefined : shared.networkOf(octets);
  if (
    octets === undefined ||
    network === undefined ||
    network.connections >= limits.maxConnectionsPerAddress
  ) {
    counters.tcpRefused++;
    socket.on('error', () => {}); // it may be reset before it is destroyed
    socket.destroy();
    return undefined;
  }
  // If the limit is reached, the longest idle connection is ended, so that idle ones cannot lock out others (RFC 7766 §6.2.3).
  const [idlest] = connections;
  if (connections.size >= limits.maxConnections && idlest !== undefined) {
    counters.tcpRefused++;
    idlest.destroy();
  }
  network.connections++;
  networks.set(network.name, network);
  const connection = new TcpConnection(socket, octets, network, shared);
  connections.add(connection);
  return connection;
}

function forgetNetworks({ networks, now }: Listening): void {
  const nowMs = now();
  for (const network of networks.values()) if (network.isForgettable(nowMs)) networks.delete(network.name);
}

function endIdle(shared: Listening): void {
  const now = shared.now();
  for (const connection of shared.connections) {
    if (now - connection.progressAt < shared.limits.idleTimeoutMs) return; // all others are newer
    if (connection.isBusy(now)) continue;
    shared.answers.counters.tcpExpired++;
    connection.destroy();
  }
}
