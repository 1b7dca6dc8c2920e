// The connections of a listener, with limits on their number, their memory and their idle time.

import type { Socket } from 'node:net';
import { addressOctets, isLoopback } from '../answer/client.ts';
import type { QueryCounters } from '../answer/query-counters.ts';
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

export interface LimitedConnection extends NetworkConnection {
  /** The time of the last progress. */
  progressAt: number;
  /** Bytes that count towards the limits. */
  heldBytes: number;
}

/** The client of a new connection. */
interface AcceptedClient {
  readonly address: Uint8Array;
  readonly network: TcpNetwork;
}

export abstract class LimitedConnections<C extends LimitedConnection> {
  readonly limits: TcpLimits;
  readonly now: () => number;
  readonly turns: TcpTurns;
  protected readonly counters: QueryCounters;
  /** True if clients without a query limit have no limits of one client at all. */
  readonly #sparesUnlimited: boolean;
  /** In order of their last progress: the first has been idle longest. */
  readonly #connections = new Set<C>();
  readonly #networks = new Map<string, TcpNetwork>();
  /** Connections that hold bytes. The first has released none for longest. */
  readonly #holding = new Set<C>();
  #heldBytes = 0;

  constructor(counters: QueryCounters, limits: TcpLimits, now: () => number, sparesUnlimited: boolean) {
    this.counters = counters;
    this.limits = limits;
    this.now = now;
    this.turns = new TcpTurns(counters, now);
    this.#sparesUnlimited = sparesUnlimited;
  }

  get size(): number {
    return this.#connections.size;
  }

  has(connection: C): boolean {
    return this.#connections.has(connection);
  }

  /** Iterates over a copy, in order of the last progress: the first has been idle longest. */
  [Symbol.iterator](): Iterator<C> {
    return [...this.#connections].values();
  }

  /** Returns undefined if the socket was destroyed because of a limit. */
  protected accept(socket: Socket): AcceptedClient | undefined {
    this.turns.noteAccepted();
    const text = socket.remoteAddress; // undefined if the peer has already disconnected
    const address = text === undefined ? undefined : addressOctets(text);
    const network = address === undefined ? undefined : this.#networkOf(address);
    if (address === undefined || network === undefined) {
      this.counters.tcpRefused++;
      socket.on('error', () => {}); // it may be reset before it is destroyed
      socket.destroy();
      return undefined;
    }
    // If the limit is reached, the longest idle connection is ended, so that idle ones cannot lock out others (RFC 7766 §6.2.3).
    const [idlest] = this.#connections;
    if (this.#connections.size >= this.limits.maxConnections && idlest !== undefined) {
      this.counters.tcpRefused++;
      idlest.destroy();
    }
    network.connections++;
    this.#networks.set(network.name, network);
    return { address, network };
  }

  /** Returns undefined if the client has too many connections. */
  #networkOf(address: Uint8Array): TcpNetwork | undefined {
    const { queriesPerSecond, limitsLoopback, maxConnectionsPerAddress } = this.limits;
    const name = networkName(address);
    const isLimited = limitsLoopback || !isLoopback(address);
    const rate = isLimited ? queriesPerSecond : Number.POSITIVE_INFINITY;
    const network = this.#networks.get(name) ?? new TcpNetwork(name, rate, this.now());
    const isFull = network.connections >= maxConnectionsPerAddress;
    return isFull && this.#limits(network) ? undefined : network;
  }

  #limits({ isLimited }: TcpNetwork): boolean {
    return isLimited || !this.#sparesUnlimited;
  }

  /** Adds the connection of a client that `accept` has returned. */
  protected add(connection: C): void {
    this.#connections.add(connection);
  }

  progress(connection: C): void {
    connection.progressAt = this.now();
    if (this.#connections.delete(connection)) this.#connections.add(connection); // to the end
  }

  /** Removes a connection that has ended. Returns false if it was removed before. */
  leave(connection: C): boolean {
    if (!this.#connections.delete(connection)) return false;
    const { network } = connection;
    network.connections--;
    if (network.isForgettable(this.now())) this.#networks.delete(network.name);
    this.turns.forget(connection);
    this.release(connection, connection.heldBytes);
    return true;
  }

  /** Counts bytes. Does nothing if the connection has ended. */
  hold(connection: C, bytes: number): void {
    if (!this.#connections.has(connection)) return;
    const { network } = connection;
    this.#holding.add(connection);
    network.unread.add(connection);
    connection.heldBytes += bytes;
    network.unreadBytes += bytes;
    this.#heldBytes += bytes;
    const { maxUnreadBytes, maxUnreadBytesPerAddress } = this.limits;
    if (this.#limits(network) && network.unreadBytes > maxUnreadBytesPerAddress)
      this.#endFirst(network.unread);
    if (this.#heldBytes > maxUnreadBytes) this.#endFirst(this.#holding);
  }

  release(connection: C, bytes: number): void {
    const { network } = connection;
    const released = Math.min(bytes, connection.heldBytes); // 0 after the connection has ended
    connection.heldBytes -= released;
    network.unreadBytes -= released;
    this.#heldBytes -= released;
    this.#holding.delete(connection);
    network.unread.delete(connection);
    if (connection.heldBytes === 0) return;
    this.#holding.add(connection); // to the end
    network.unread.add(connection);
  }

  #endFirst(holding: ReadonlySet<NetworkConnection>): void {
    const [longest] = holding;
    if (longest === undefined) return;
    this.counters.tcpUnread++;
    longest.destroy();
  }

  protected forgetNetworks(): void {
    const nowMs = this.now();
    for (const network of this.#networks.values())
      if (network.isForgettable(nowMs)) this.#networks.delete(network.name);
  }
}
