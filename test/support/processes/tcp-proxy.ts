// A proxy between a node and its Postgres: it can stop forwarding data without closing anything, like a cut cable, or close
// and refuse everything.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The server's URL through this proxy. */
  url: string;
  /** Forwards nothing. Connections stay open, and new ones hang. */
  pause(): void;
  /** Ends all connections, and refuses new ones immediately. */
  cut(): void;
  /** Number of refused connections. */
  refused(): number;
  /** Number of octets that the server has sent to clients. */
  received(): number;
  resume(): void;
  /** Like a firewall that lost its state: existing connections forward nothing, and neither side is notified. */
  forget(): void;
  /** Uses another server for new connections. */
  pointAt(url: string): void;
  stop(): Promise<void>;
}

export async function startProxy(serverUrl: string): Promise<TcpProxy> {
  let state: 'open' | 'paused' | 'cut' = 'open';
  let target = socketOf(serverUrl);
  const sockets = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let refused = 0;
  let received = 0;
  const server = createServer((incoming) => {
    if (state === 'cut') {
      refused++;
      return incoming.destroy();
    }
    const outgoing = connect(target);
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (octets) => {
        if (from === outgoing) received += octets.length;
        to.write(octets);
      });
      const end = () => {
        sockets.delete(from);
        if (!forgotten.has(from)) to.destroy();
      };
      from.on('error', end);
      from.on('close', end);
      if (state === 'paused') from.pause();
    };
    pass(incoming, outgoing);
    pass(outgoing, incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl.replace('@/', '@localhost/'));
  return {
    url: `postgresql://${url.username}@127.0.0.1:${port}${url.pathname}`,
    pause() {
      state = 'paused';
      for (const socket of sockets) socket.pause();
    },
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    refused: () => refused,
    received: () => received,
    resume() {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    forget() {
      for (const socket of sockets) {
        socket.pause();
        forgotten.add(socket);
      }
      sockets.clear();
    },
    pointAt(next) {
      target = socketOf(next);
    },
    async stop() {
      state = 'cut';
      for (const socket of [...sockets, ...forgotten]) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** `postgresql://user@/database?host=<directory>&port=5432` is a unix socket. */
function socketOf(serverUrl: string): { path: string } {
  const parameters = new URL(serverUrl.replace('@/', '@localhost/')).searchParams;
  return { path: `${parameters.get('host')}/.s.PGSQL.${parameters.get('port') ?? 5432}` };
}
