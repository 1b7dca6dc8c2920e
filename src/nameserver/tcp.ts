// Answers over TCP (RFC 7766) with node:net. Everything is bounded: connections, their input, their unread output and
// their time. Answers come in the order of the queries, on which pipelining clients need not rely.

import { createServer, type Server, type Socket } from 'node:net';
import { addressOctets } from './client.ts';
import { type TcpAnswers, TcpConnection, type TcpConnections } from './tcp-connection.ts';
import type { ListenAddress } from './udp.ts';

export interface TcpLimits {
  /** Time without a whole query read or an answer fully taken by the peer. Octets alone do not count. */
  readonly idleTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = {
  idleTimeoutMs: 10_000,
  maxConnections: 2000,
  maxConnectionsPerAddress: 100,
};

export interface TcpListener {
  readonly addresses: readonly ListenAddress[];
  connections(): number;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 500;

interface Listening extends TcpConnections {
  readonly limits: TcpLimits;
}

/** Rejects when one of the addresses cannot be had; then none is held. */
export async function listenTcp(
  addresses: readonly ListenAddress[],
  answers: TcpAnswers,
  limits: TcpLimits = DEFAULT_TCP_LIMITS,
): Promise<TcpListener> {
  const shared: Listening = { answers, limits, connections: new Set(), perNetwork: new Map() };
  const servers: Server[] = [];
  try {
    for (const address of addresses) servers.push(await listen(address, shared));
  } catch (error) {
    await Promise.all(servers.map(closeServer));
    throw error;
  }
  const sweep = setInterval(() => endIdle(shared), Math.max(20, Math.min(1000, limits.idleTimeoutMs / 4)));
  sweep.unref();
  return {
    addresses: servers.map((server) => server.address() as { address: string; port: number }),
    connections: () => shared.connections.size,
    async close() {
      clearInterval(sweep);
      const closed = Promise.all(servers.map(closeServer));
      for (const connection of shared.connections) connection.endWhenWritten();
      const force = setTimeout(() => {
        for (const connection of shared.connections) connection.destroy();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(force);
    },
  };
}

async function listen({ address, port }: ListenAddress, shared: Listening): Promise<Server> {
  // Half-open: a client may end its side after its last query and still gets the answers.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => accept(socket, shared));
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(
      { host: address, port, ipv6Only: address.includes(':'), exclusive: true, backlog: 1024 },
      done,
    );
  });
  server.removeAllListeners('error');
  server.on('error', () => shared.answers.counters.tcpRefused++); // accept failed, mostly for want of descriptors
  return server;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()));
}

function accept(socket: Socket, shared: Listening): void {
  const { connections, perNetwork, limits } = shared;
  const { counters } = shared.answers;
  const address = socket.remoteAddress; // undefined when the peer is gone already
  const octets = address === undefined ? undefined : addressOctets(address);
  const network = octets === undefined ? '' : networkOf(octets);
  const held = perNetwork.get(network) ?? 0;
  if (octets === undefined || held >= limits.maxConnectionsPerAddress) {
    counters.tcpRefused++;
    socket.on('error', () => {}); // it may be reset before it is destroyed
    socket.destroy();
    return;
  }
  // Full: the one that has been idle longest goes, so that idle connections cannot lock others out (RFC 7766 §6.2.3).
  const [idlest] = connections;
  if (connections.size >= limits.maxConnections && idlest !== undefined) {
    counters.tcpRefused++;
    idlest.destroy();
  }
  perNetwork.set(network, held + 1);
  connections.add(new TcpConnection(socket, octets, network, shared));
}

/** What counts as one address: of IPv6 the /64, all of which one host may have. */
function networkOf(address: Uint8Array): string {
  return address.subarray(0, 8).join('.');
}

function endIdle(shared: Listening): void {
  const now = performance.now();
  for (const connection of shared.connections) {
    if (now - connection.progressAt < shared.limits.idleTimeoutMs) return; // all others are younger
    shared.answers.counters.tcpExpired++;
    connection.destroy();
  }
}
