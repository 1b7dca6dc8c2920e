// The open connections of DNS over HTTPS and their limits: number, memory, time and turns.

import type { Socket } from 'node:net';
import { addressOctets } from '../answer/client.ts';
import { LimitedConnections, type TcpLimits } from '../tcp/limited-connections.ts';
import type { TcpAnswers } from '../tcp/tcp-connection.ts';
import { DohConnection, type DohWire } from './doh-connection.ts';

/**
 * The limits are those of TCP. Unanswered requests count like unread answers, and without `limitsLoopback`, a client on
 * loopback has only the limits of all clients.
 */
export class DohConnections extends LimitedConnections<DohConnection> {
  readonly answers: TcpAnswers;
  /** Responses by status. */
  readonly statuses: Record<string, number> = {};

  constructor(answers: TcpAnswers, limits: TcpLimits, now: () => number) {
    super(answers.counters, limits, now, true);
    this.answers = answers;
  }

  /** Returns undefined if the socket was destroyed because of a limit. */
  admit(socket: Socket, wire: DohWire): DohConnection | undefined {
    const accepted = this.accept(socket);
    if (accepted === undefined) return undefined;
    const { address, network } = accepted;
    const { remotePort: port = 0, localAddress, localPort } = socket;
    const local = localAddress === undefined ? undefined : addressOctets(localAddress);
    const connection = new DohConnection(wire, { address, port, local, localPort }, network, this);
    this.add(connection);
    socket.once('close', () => this.forget(connection));
    return connection;
  }

  forget(connection: DohConnection): void {
    if (this.leave(connection)) connection.clear();
  }

  countStatus(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Ends idle and slow connections. */
  sweep(): void {
    const nowMs = this.now();
    const { idleTimeoutMs } = this.limits;
    for (const connection of this) {
      if (nowMs - connection.progressAt < idleTimeoutMs) {
        connection.expireRequests(nowMs - idleTimeoutMs);
        continue;
      }
      this.counters.tcpExpired++;
      connection.destroy();
    }
    this.forgetNetworks();
  }
}
