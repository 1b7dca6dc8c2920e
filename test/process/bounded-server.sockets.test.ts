// Over real sockets; what is decided about time stands in connections.test.ts.

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createBoundedServer, type ServerLimits, trustConnection } from '../../src/process/bounded-server.ts';
import { until } from '../support/tests/until.ts';

const LIMITS: ServerLimits = {
  connections: 8,
  perNetwork: 4,
  unreadBytes: 1024 * 1024,
  headersTimeoutMs: 100,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
};
const REQUEST = 'GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n';

let server: Server;
let sockets: Client[] = [];
let asked: [IncomingMessage, ServerResponse][] = [];
afterEach(async () => {
  for (const { socket } of sockets) socket.destroy();
  sockets = [];
  asked = [];
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

/** Answers wait in `asked` unless there is a handler. */
async function listening(
  limits: Partial<ServerLimits> = {},
  handler: (request: IncomingMessage, response: ServerResponse) => void = (...pair) => asked.push(pair),
): Promise<void> {
  server = createBoundedServer({ ...LIMITS, ...limits }, handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

interface Client {
  readonly socket: Socket;
  text: string;
  isGone: boolean;
}

async function opened(from = '127.0.0.1'): Promise<Client> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  const client: Client = { socket, text: '', isGone: false };
  socket.setEncoding('utf8').on('data', (text: string) => {
    client.text += text;
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  socket.on('close', () => {
    client.isGone = true;
  });
  sockets.push(client);
  await once(socket, 'connect').catch(() => {});
  return client;
}

const answers = (client: Client) => client.text.split('HTTP/1.1 200').length - 1;

describe('a connection', () => {
  it('that sends its header too slowly is told so and ended, though it would stay', async () => {
    await listening();
    const client = await opened();
    client.socket.write('GET / HTTP/1.1\r\nHost: ');
    const dribble = setInterval(() => client.socket.write('x'), 20);
    await until(() => client.isGone, 'it is ended');
    clearInterval(dribble);
    expect(client.text).toMatch(/^HTTP\/1.1 408 /);
    expect(asked).toEqual([]);
  });

  it('that says nothing at all is ended', async () => {
    await listening();
    const client = await opened();
    await until(() => client.isGone, 'it is ended');
  });

  it('whose words are no HTTP is told so, with the headers of every answer', async () => {
    await listening();
    const client = await opened();
    client.socket.write('hello\r\n\r\n');
    await until(() => client.isGone, 'it is ended');
    expect(client.text).toMatch(/^HTTP\/1.1 400 /);
    expect(client.text).toContain('\r\nX-Content-Type-Options: nosniff\r\n');
    expect(client.text).toContain('\r\nCache-Control: no-store\r\n');
  });

  it('has one request worked on at a time, and gets its answers in order', async () => {
    await listening();
    const client = await opened();
    client.socket.write(REQUEST.repeat(3));
    for (let i = 0; i < 3; i++) {
      await until(() => asked.length === i + 1, `request ${i} is begun`);
      expect(answers(client)).toBe(i);
      asked[i]?.[1].end(String(i));
      await until(() => answers(client) === i + 1, `answer ${i} is there`);
    }
    expect(asked).toHaveLength(3);
  });

  it('that sends many requests ahead is cut, and none but its first is worked on', async () => {
    await listening();
    const client = await opened();
    client.socket.write(REQUEST.repeat(1000));
    await until(() => client.isGone, 'it is cut');
    expect(asked).toHaveLength(1);
  });

  it('that does not read has one answer made for it', async () => {
    const answer = Buffer.alloc(16 * 1024 * 1024, 97); // more than the system takes
    let made = 0;
    await listening({ unreadBytes: 1e9 }, (_, response) => {
      made++;
      response.end(answer);
    });
    const lazy = await opened();
    lazy.socket.pause();
    lazy.socket.write(REQUEST.repeat(20));
    await until(() => made > 0, 'the first answer is made');
    const busy = await opened('127.0.0.2');
    busy.socket.write(REQUEST);
    await until(() => busy.text.length > answer.length, "another's answer is there");
    expect(made).toBe(2);
  });

  it('that does not read is cut when all unread answers are too much', async () => {
    await listening({}, (_, response) => response.end(Buffer.alloc(16 * 1024 * 1024, 97)));
    const lazy = await opened();
    lazy.socket.pause();
    lazy.socket.write(REQUEST);
    let isCut = false;
    await until(async () => {
      isCut ||= (await openCount()) === 0;
      return isCut;
    }, 'the server has cut it');
  });
});

const openCount = () =>
  new Promise<number>((done, fail) =>
    server.getConnections((error, count) => (error ? fail(error) : done(count))),
  );

describe('many connections', () => {
  it('of one address that say nothing keep nobody out, from that address or others', async () => {
    await listening({ headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 }, (_, response) => response.end());
    for (let i = 0; i < 20; i++) await opened();
    await until(async () => (await openCount()) <= 4, 'no more than its share is open');
    for (const from of ['127.0.0.1', '127.0.0.2']) {
      const client = await opened(from);
      client.socket.write(REQUEST);
      await until(() => answers(client) === 1, `${from} is answered`);
    }
  });

  it('do not take the place of one that has shown a key', async () => {
    await listening({ headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 }, (request, response) => {
      if (request.headers.key) trustConnection(request.socket);
      response.end();
    });
    const keyed = await opened();
    keyed.socket.write(REQUEST.replace('\r\n\r\n', '\r\nKey: right\r\n\r\n'));
    await until(() => answers(keyed) === 1, 'it is answered');
    const others: Client[] = [];
    for (let i = 0; i < 20; i++) others.push(await opened());
    await until(() => others.filter(({ isGone }) => isGone).length >= 17, 'others gave way');
    keyed.socket.write(REQUEST);
    await until(() => answers(keyed) === 2, 'it is answered again');
  });
});

it('stops reading a body some time after its request was refused', async () => {
  await listening({ stallMs: 100 }, (_, response) => response.writeHead(401).end());
  const client = await opened();
  client.socket.write('POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  const sending = setInterval(() => client.socket.write('400\r\n'.concat('x'.repeat(1024), '\r\n')), 20);
  await until(() => client.text.includes('401'), 'it is refused');
  await until(() => client.isGone, 'it is ended');
  clearInterval(sending);
});
