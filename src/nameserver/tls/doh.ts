// DNS over HTTPS (RFC 8484) with HTTP/2 and HTTP/1.1, and over HTTP without TLS for proxies on this machine.

import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { ListenAddress } from '../../process/listen-address.ts';
import { descriptorOf, type InheritedAddress } from '../handover/inherited.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from '../tcp/limited-connections.ts';
import { closeServers, openServers } from '../tcp/open-servers.ts';
import type { TcpAnswers } from '../tcp/tcp-connection.ts';
import { DohConnections } from './doh-connections.ts';
import { http1Server } from './doh-http1.ts';
import { serveHttp2 } from './doh-http2.ts';
import type { TlsServers } from './tls-servers.ts';

interface DohOptions {
  /** Addresses with TLS. */
  readonly listen: readonly ListenAddress[];
  /** Addresses without TLS. */
  readonly plainListen: readonly ListenAddress[];
  /** Undefined if `listen` is empty. */
  readonly tls: TlsServers | undefined;
  /** The answerer must not have transfers. */
  readonly answers: TcpAnswers;
  readonly limits?: TcpLimits;
  /** In milliseconds. */
  readonly now?: () => number;
  /** Sockets of the process that this one replaces. */
  readonly inherited?: readonly InheritedAddress[];
}

export interface DohListener {
  /** First those with TLS. */
  readonly addresses: readonly ListenAddress[];
  /** The listening sockets, in the order of the addresses. */
  readonly descriptors: readonly number[];
  connections(): number;
  /** Numbers of responses by status. */
  statuses(): Readonly<Record<string, number>>;
  /** Stops accepting connections. Another process accepts on the same sockets. */
  stopAccepting(): void;
  /** Resolves when no connection is left, or after the idle timeout. */
  finished(): Promise<void>;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 500;
const FINISHED_POLL_MS = 20;

/** Listens on all addresses. If one of them fails, rejects and listens on none. */
export async function listenDoh(options: DohOptions): Promise<DohListener> {
  const { answers, tls, inherited = [], limits = DEFAULT_TCP_LIMITS } = options;
  const { now = () => performance.now() } = options;
  const owner = new DohConnections(answers, limits, now);
  const serveHttp1 = http1Server(owner, limits.idleTimeoutMs);
  const accept = (socket: TLSSocket): void => {
    if (socket.alpnProtocol === 'h2') serveHttp2(socket, owner);
    else serveHttp1(socket);
  };
  const onError = () => answers.counters.tcpRefused++; // accept failed, usually for lack of descriptors
  const createHttps = (by: TlsServers) => () =>
    by.add(createTlsServer({ ...by.options, ALPNProtocols: ['h2', 'http/1.1'], noDelay: true }, accept));
  const servers =
    tls === undefined
      ? []
      : await openServers(options.listen, inherited, { create: createHttps(tls), onError });
  const createHttp = () => createServer({ noDelay: true }, serveHttp1);
  try {
    servers.push(...(await openServers(options.plainListen, inherited, { create: createHttp, onError })));
  } catch (error) {
    await closeServers(servers);
    throw error;
  }
  const sweep = setInterval(() => owner.sweep(), Math.max(20, Math.min(1000, limits.idleTimeoutMs / 4)));
  sweep.unref();
  return {
    addresses: servers.map((server) => server.address() as { address: string; port: number }),
    descriptors: servers.map(descriptorOf),
    connections: () => owner.size,
    statuses: () => owner.statuses,
    stopAccepting() {
      for (const server of servers) server.close();
      for (const connection of owner) connection.finish();
    },
    async finished() {
      const deadline = now() + limits.idleTimeoutMs;
      while (owner.size > 0 && now() < deadline) await pause(FINISHED_POLL_MS);
    },
    async close() {
      clearInterval(sweep);
      owner.turns.close();
      const closed = closeServers(servers);
      for (const connection of owner) connection.end();
      const force = setTimeout(() => {
        for (const connection of owner) connection.destroy();
      }, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(force);
    },
  };
}
