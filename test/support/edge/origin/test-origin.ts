// A customer's origin: returns the request it received, or a response set by the test, and accepts websockets.

import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Received {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface OriginSays {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

export interface TestOrigin {
  readonly address: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Sets the response from now on. `never`: no response. Undefined: the received request as JSON. */
  says(answer: ((received: Received) => OriginSays) | 'never' | undefined): void;
  stop(): Promise<void>;
}

export async function startOrigin(name: string, address: string, port = 0): Promise<TestOrigin> {
  let answer: Parameters<TestOrigin['says']>[0];
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const one = await receive(name, request);
    received.push(one);
    if (answer === 'never') return;
    const said = answer?.(one) ?? {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(one),
    };
    response.writeHead(said.status ?? 200, said.headers ?? {}).end(said.body ?? '');
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (_request, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    if (head.length > 0) socket.write(head);
    socket.on('error', () => socket.destroy()).pipe(socket); // echoes all data
  });
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, address, resolve));
  return {
    address,
    port: (server.address() as AddressInfo).port,
    received,
    says(next) {
      answer = next;
    },
    async stop() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function receive(name: string, request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    name,
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  };
}
