// The open connections of DNS over HTTPS and their limits: number, memory, time and turns.

import type { Socket } from 'node:net';
import { addressOctets, isLoopback } from '../answer/client.ts';
import type { TcpLimits } from '../tcp/tcp.ts';
import type { TcpAnswers } from '../tcp/tcp-connection.ts';
import { networkName, TcpNetwork } from '../tcp/tcp-network.ts';
import { TcpTurns } from '../tcp/tcp-turns.ts';
import { DohConnection, type DohWire } from './doh-connection.ts';

/**
 * The limits are those of TCP. Unanswered requests count like unread answers, and without `limitsLoopback`, a client on
 * loopback has only the limits of all clients.
 */
export class DohConnections {
  readonly answers: TcpAnswers;
  readonly turns: TcpTurns;
  readonly now: () => number;
  /** Responses by status. */
  readonly statuses: Record<string, number> = {};
  /** In order of their last progress: the first has been idle longest. */
  readonly #connections = new Set<DohConnection>();
  readonly #networks = new Map<string, TcpNetwork>();
  readonly #limits: TcpLimits;
  /** Connections that hold bytes. The first has released none for longest. */
  readonly #holding = new Set<DohConnection>();
  #heldBytes = 0;

  constructor(answers: TcpAnswers, limits: TcpLimits, now: () => number) {
    this.answers = answers;
    this.#limits = limits;
    this.now = now;
    this.turns = new TcpTurns(answers.counters, now);
  }

  get size(): number {
    return this.#connections.size;
  }

  *[Symbol.iterator](): Generator<DohConnection> {
    yield* [...this.#connections];
  }

  /** Returns undefined if the socket was destroyed because of a limit. */
  admit(socket: Socket, wire: DohWire): DohConnection | undefined {
    const { counters } = this.answers;
    this.turns.noteAccepted();
    const address = socket.remoteAddress; // undefined if the peer has already disconnected
    const octets = address === undefined ? undefined : addressOctets(address);
    const network = octets === undefined ? undefined : this.#networkOf(octets);
    if (octets === undefined || network === undefined) {
      counters.tcpRefused++;
      socket.on('error', () => {}); // it may be reset before it is destroyed
      socket.destroy();
      return undefined;
    }
    const [idlest] = this.#connections;
    if (this.#connections.size >= this.#limits.maxConnections && idlest !== undefined) {
      counters.tcpRefused++;
      idlest.destroy();
    }
    network.connections++;
    this.#networks.set(network.name, network);
    const { remotePort: port = 0, localAddress, localPort } = socket;
    const local = localAddress === undefined ? undefined : addressOctets(localAddress);
    const client = { address: octets, port, local, localPort };
    const connection = new DohConnection(wire, client, network, this);
    this.#connections.add(connection);
    socket.once('close', () => this.forget(connection));
    return connection;
  }

  /** Returns undefined if the client has too many connections. */
  #networkOf(address: Uint8Array): TcpNetwork | undefined {
    const { queriesPerSecond, limitsLoopback, maxConnectionsPerAddress } = this.#limits;
    const name = networkName(address);
    const known = this.#networks.get(name);
    if (known !== undefined)
      return known.isLimited && known.connections >= maxConnectionsPerAddress ? undefined : known;
    const isLimited = limitsLoopback || !isLoopback(address);
    return new TcpNetwork(name, isLimited ? queriesPerSecond : Number.POSITIVE_INFINITY, this.now());
  }

  forget(connection: DohConnection): void {
    if (!this.#connections.delete(connection)) return;
    const { network } = connection;
    network.connections--;
    if (network.isForgettable(this.now())) this.#networks.delete(network.name);
    this.turns.forget(connection);
    this.release(connection, connection.heldBytes);
    connection.clear();
  }

  progress(connection: DohConnection): void {
    connection.progressAt = this.now();
    if (this.#connections.delete(connection)) this.#connections.add(connection); // to the end
  }

  countStatus(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Counts nothing if the connection has ended. */
  hold(connection: DohConnection, bytes: number): void {
    if (!this.#connections.has(connection)) return;
    const { network } = connection;
    this.#holding.add(connection);
    network.unread.add(connection);
    connection.heldBytes += bytes;
    network.unreadBytes += bytes;
    this.#heldBytes += bytes;
    const { maxUnreadBytes, maxUnreadBytesPerAddress } = this.#limits;
    if (network.isLimited && network.unreadBytes > maxUnreadBytesPerAddress) this.#end(network.unread);
    if (this.#heldBytes > maxUnreadBytes) this.#end(this.#holding);
  }

  release(connection: DohConnection, bytes: number): void {
    const { network } = connection;
    const released = Math.min(bytes, connection.heldBytes); // 0 after the connection was forgotten
    connection.heldBytes -= released;
    network.unreadBytes -= released;
    this.#heldBytes -= released;
    this.#holding.delete(connection);
    network.unread.delete(connection);
    if (connection.heldBytes === 0) return;
    this.#holding.add(connection); // to the end
    network.unread.add(connection);
  }

  /** Ends idle and slow connections. */
  sweep(): void {
    const nowMs = this.now();
    const { idleTimeoutMs } = this.#limits;
    for (const connection of this.#connections) {
      if (nowMs - connection.progressAt < idleTimeoutMs) {
        connection.expireRequests(nowMs - idleTimeoutMs);
        continue;
      }
      this.answers.counters.tcpExpired++;
      connection.destroy();
    }
    for (const network of this.#networks.values())
      if (network.isForgettable(nowMs)) this.#networks.delete(network.name);
  }

  #end(holding: Iterable<{ destroy(): void }>): void {
    const [longest] = holding;
    this.answers.counters.tcpUnread++;
    longest?.destroy();
  }
}
