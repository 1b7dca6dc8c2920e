// TCP ports of the loopback interface that nobody listens on now. Below those that the kernel gives to outgoing connections
// (Linux: from 32768), so that none of these takes one before it is used.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const FIRST = 20_000;
const LAST = 32_000;

/** The port, with `more` free ones right behind it. */
export async function freePort(more = 0): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const servers: Server[] = [];
    try {
      while (servers.length <= more) servers.push(await listen(port + servers.length));
      return port;
    } catch {
      // one of them is in use: try others
    } finally {
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    }
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(port, '127.0.0.1', done);
  });
  return server;
}
