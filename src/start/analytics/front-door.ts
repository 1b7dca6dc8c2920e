// The TCP port of the embedded engine. `npm start` keeps it open permanently, so that no other program can take it while
// the engine is not running. It forwards connections to the engine's Unix socket, or responds 503.

import { connect, createServer, type Socket } from 'node:net';

const AWAY =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 27\r\nConnection: close\r\n\r\nthe engine is not there yet';
const MOST_CONNECTIONS = 128;

interface FrontDoor {
  readonly port: number;
  close(): Promise<void>;
}

export async function openFrontDoor(socketPath: string): Promise<FrontDoor> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    open.add(caller);
    const engine = connect({ path: socketPath, allowHalfOpen: true });
    let isThere = false;
    engine.once('connect', () => {
      isThere = true;
      caller.pipe(engine);
      engine.pipe(caller);
    });
    engine.on('error', () => {
      if (isThere) caller.destroy();
      else refuse(caller);
    });
    engine.on('close', () => isThere && caller.destroy());
    caller.on('error', () => engine.destroy());
    caller.on('close', () => {
      open.delete(caller);
      engine.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen({ host: '127.0.0.1', port: 0 }, done);
  });
  server.on('error', () => {}); // a failed accept: the caller retries
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const caller of open) caller.destroy();
      }),
  };
}

/** Responds after the start of the request, which a client sends first. Further data is discarded. */
function refuse(caller: Socket): void {
  caller.once('data', () => caller.end(AWAY));
  caller.resume();
  caller.setTimeout(5000, () => caller.destroy());
}
