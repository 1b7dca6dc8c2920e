// Finds ports of the loopback interface without TCP and UDP listeners. They are below the kernel's range for outgoing
// connections (Linux: from 32768), which could take one before its use. They differ from those of concurrent test files,
// and none is returned twice.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';

const SHARES = 4;
const SHARE_PORTS = 3_000;
const FIRST = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % SHARES) * SHARE_PORTS;
const given = new Set<number>();

/** Returns a port that is followed by `more` free ones. */
export async function freePort(more = 0): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, FIRST + SHARE_PORTS - more);
    const ports = Array.from({ length: more + 1 }, (_, i) => port + i);
    if (ports.some((each) => given.has(each))) continue;
    for (const each of ports) given.add(each);
    const servers: Server[] = [];
    try {
      for (const each of ports) servers.push(await listen(each));
      return port;
    } catch {
      // one of them is in use: try others
    } finally {
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    }
  }
}

async function listen(port: number): Promise<Server> {
  const socket = createSocket('udp4');
  await new Promise<void>((done, fail) => {
    socket.once('error', fail).bind(port, '127.0.0.1', done);
  });
  socket.close();
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(port, '127.0.0.1', done);
  });
  return server;
}
