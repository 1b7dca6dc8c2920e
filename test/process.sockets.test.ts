// Listening addresses and child processes, with real sockets and separate processes.

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  get,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import { QueryCounters } from '../src/nameserver/answer/query-counters.ts';
import { createMetrics } from '../src/nameserver/metrics/metrics.ts';
import { listenTcp } from '../src/nameserver/tcp/tcp.ts';
import { hidePasswords, hideTokens } from '../src/process/hide-passwords.ts';
import {
  createBoundedServer,
  type ServerLimits,
  trustConnection,
} from '../src/process/http/bounded-server.ts';
import { listenFault } from '../src/process/listen-fault.ts';
import { type HealthListener, listenHealth, type Readiness } from '../src/process/listen-health.ts';
import { StartFault } from '../src/process/start-fault.ts';
import { listenUdpFor } from './support/answer/listen-udp-for.ts';
import { testNode } from './support/answer/test-node.ts';
import { bundle } from './support/processes/bundle.ts';
import { until } from './support/tests/until.ts';

describe('the bounded HTTP server', () => {
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

  /** Requests wait in `asked` unless there is a handler. */
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
    it('that sends its header too slowly gets an error and is closed', async () => {
      await listening();
      const client = await opened();
      client.socket.write('GET / HTTP/1.1\r\nHost: ');
      const dribble = setInterval(() => client.socket.write('x'), 20);
      await until(() => client.isGone, 'it is ended');
      clearInterval(dribble);
      expect(client.text).toMatch(/^HTTP\/1.1 408 /);
      expect(asked).toEqual([]);
    });

    it('that does not speak HTTP gets an error with the usual headers, and one that sends nothing is closed', async () => {
      await listening();
      const [client, silent] = [await opened(), await opened()];
      client.socket.write('hello\r\n\r\n');
      await until(() => client.isGone && silent.isGone, 'both are ended');
      expect(client.text).toMatch(/^HTTP\/1.1 400 /);
      expect(client.text).toContain('\r\nX-Content-Type-Options: nosniff\r\n');
      expect(client.text).toContain('\r\nCache-Control: no-store\r\n');
    });

    it('has one request in progress at a time, and gets its responses in order', async () => {
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

    it('that sends many requests ahead is closed, and only its first one is processed', async () => {
      await listening();
      let parsed = 0;
      server.on('request', () => parsed++);
      const client = await opened();
      client.socket.write(REQUEST.repeat(1000));
      await until(() => client.isGone, 'it is cut');
      expect(asked).toHaveLength(1);
      expect(parsed).toBeLessThan(20);
    });

    it('that sends a few large requests ahead is closed if all connections together have sent too much', async () => {
      const [many, ahead, headerBytes] = [200, 4, 12_000];
      await listening({ connections: many, perNetwork: many, headersTimeoutMs: 60_000 });
      const large = REQUEST.replace('\r\n\r\n', `\r\nFiller: ${'x'.repeat(headerBytes)}\r\n\r\n`);
      const clients: Client[] = [];
      for (let i = 0; i < many; i++) {
        const client = await opened();
        client.socket.write(large.repeat(1 + ahead));
        clients.push(client);
      }
      await until(() => clients.some(({ isGone }) => isGone), 'one is cut');
      await until(() => asked.length === many, 'the first request of each is worked on');
      const kept = clients.filter(({ isGone }) => !isGone).length;
      expect(kept * ahead * headerBytes).toBeLessThan(8 << 20);
      expect(kept).toBeGreaterThan(many / 2);
    });

    it('that does not read has only one response in progress', async () => {
      const answer = Buffer.alloc(16 * 1024 * 1024, 97); // more than the system accepts
      let made = 0;
      await listening({ unreadBytes: 1e9 }, (_, response) => {
        made++;
        response.end(answer);
      });
      const lazy = await opened();
      lazy.socket.pause();
      lazy.socket.write(REQUEST.repeat(5));
      await until(() => made > 0, 'the first answer is made');
      const busy = await opened('127.0.0.2');
      busy.socket.write(REQUEST);
      await until(() => busy.text.length > answer.length, "another's answer is there");
      expect(made).toBe(2);
      expect(lazy.isGone).toBe(false);
    });

    it('that does not read is closed if the total of unread responses is too large', async () => {
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
    it('of one address that send nothing lock nobody out, at that address or others', async () => {
      await listening({ headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 }, (_, response) =>
        response.end(),
      );
      for (let i = 0; i < 20; i++) await opened();
      await until(async () => (await openCount()) <= 4, 'no more than its share is open');
      for (const from of ['127.0.0.1', '127.0.0.2']) {
        const client = await opened(from);
        client.socket.write(REQUEST);
        await until(() => answers(client) === 1, `${from} is answered`);
      }
    });

    it('with requests at the same moment have few of them started per round of the event loop', async () => {
      const many = 60;
      let inRound = 0;
      let most = 0;
      let begun = 0;
      await listening({ connections: many, perNetwork: many, headersTimeoutMs: 60_000 }, (_, response) => {
        if (inRound++ === 0) setImmediate(() => (inRound = 0));
        most = Math.max(most, inRound);
        begun++;
        response.end();
      });
      const clients: Client[] = [];
      for (let i = 0; i < many; i++) clients.push(await opened());
      for (let time = 1; time <= 3; time++) {
        for (const client of clients) client.socket.write(REQUEST);
        await until(() => begun === time * many, 'all are begun');
        await until(() => clients.every((client) => answers(client) === time), 'all are answered');
        if (time === 1) most = 0; // the first request of each connection starts with its connection
      }
      expect(most).toBeLessThanOrEqual(8);
    });

    it('do not replace one that has shown a key', async () => {
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

  it('stops reading a body some time after its request was rejected', async () => {
    await listening({ stallMs: 100 }, (_, response) => response.writeHead(401).end());
    const client = await opened();
    client.socket.write('POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    const sending = setInterval(() => client.socket.write('400\r\n'.concat('x'.repeat(1024), '\r\n')), 20);
    await until(() => client.text.includes('401'), 'it is refused');
    await until(() => client.isGone, 'it is ended');
    clearInterval(sending);
  });
});

const isRoot = process.getuid?.() === 0;

function run(user: object | undefined, then: string): { stdout: string; stderr: string } {
  const program = `
    import { Worker } from 'node:worker_threads';
    import { readdirSync, readFileSync } from 'node:fs';
    import { dropRights } from './src/process/drop-rights.ts';
    const before = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', { eval: true });
    await new Promise((done) => before.once('online', done));
    dropRights(${JSON.stringify(user)}, { warn: (_, text) => console.log('warned', text), debug() {} });
    ${then}
    process.exit(0);`;
  return spawnSync(process.execPath, ['--input-type=module'], { encoding: 'utf8', input: bundle(program) });
}

it.skipIf(!isRoot)(
  `no thread is root’s afterwards, nor can be again, nor may other processes look in${isRoot ? '' : ' (skipped: needs root)'}`,
  () => {
    const { stdout, stderr } = run(
      { uid: 61_001, gid: 61_002 },
      // A thread may have ended since it was listed.
      `const statusOf = (task) => { try { return [readFileSync('/proc/self/task/' + task + '/status', 'utf8')]; } catch { return []; } };
     const ids = new Set(readdirSync('/proc/self/task').flatMap(statusOf).map((status) =>
       status.match(/^(Uid|Gid|Groups|CapEff|CapPrm):.*$/gm).join(' ')));
     console.log([...ids].join('|').replaceAll(/\\s+/g, ' '));
     for (const id of ['setuid', 'setgid']) try { process[id](0); console.log('back'); } catch (error) { console.log(error.code); }
     try { readFileSync('/proc/self/environ'); console.log('seen'); } catch (error) { console.log(error.code); }
     console.log(process.cwd());`,
    );
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual([
      'Uid: 61001 61001 61001 61001 Gid: 61002 61002 61002 61002 Groups: CapPrm: 0000000000000000 CapEff: 0000000000000000',
      'EPERM',
      'EPERM',
      'EACCES',
      '/',
    ]);
  },
);

it.skipIf(!isRoot)(`root that stays is warned of, once${isRoot ? '' : ' (skipped: needs root)'}`, () => {
  const { stdout } = run(undefined, 'console.log(process.getuid())');
  expect(stdout).toMatch(/^warned RUN_AS is off: .*\n0\n$/);
});

/** The intended rule in its simplest form. It is quadratic: each attempt of the first pattern scans the whole rest. */
function hidePasswordsSlowly(text: string): string {
  return text
    .replaceAll(/(\w:\/\/[^\s/:@"\\]*):[^\s"\\]*@/g, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

describe('passwords in messages', () => {
  it.each([
    ['postgresql://u:p@ss:w/rd@h:5432/d', 'postgresql://u:***@h:5432/d'],
    ['postgresql://:p@h/d', 'postgresql://:***@h/d'],
    ['postgresql://u:@h/d', 'postgresql://u:***@h/d'],
    ['postgresql://u@/d?host=%2Frun&password=p&port=1', 'postgresql://u@/d?host=%2Frun&password=***&port=1'],
    ['redis://h/0?x=1&SSLPassword=p?q "', 'redis://h/0?x=1&SSLPassword=*** "'],
    ['postgresql://u@h:5432/d', 'postgresql://u@h:5432/d'],
    ['a://x:p@h b://y:q@i', 'a://x:***@h b://y:***@i'],
    ['a://x@h://y:q@i', 'a://x@h://y:***@i'],
    ['a://x/@b://y:z', 'a://x/@b://y:z'],
    ['listening on http://127.0.0.1:9153/metrics', 'listening on http://127.0.0.1:9153/metrics'],
  ])('are hidden: %s becomes %s', (text, hidden) => {
    expect(hidePasswords(text)).toBe(hidden);
  });

  it('are hidden in any text like by a slow, simple rule', () => {
    const piece = fc.constantFrom(
      ...['a', '://', 'p://u:', ':', '@', '/', ' ', '"', '\\', '\n', '?', '&', 'password=', 'sslPASSWORD='],
      ...['\u00a0', 'é', '😀', '=', '***'],
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
        (text) => {
          expect(hidePasswords(text)).toBe(hidePasswordsSlowly(text));
        },
      ),
      { numRuns: 5000 },
    );
  });

  // Runs in a separate process that can be killed: a quadratic rule takes an hour for the first of them.
  it('are hidden in linear time: 8 million characters that look like the start of a URL', async () => {
    const pieces = ['a://u:', 'a://', '@a://u:', 'a:', '?password=', '&password', ':', '/', 'a://u', '@'];
    const script = `import { hidePasswords } from './src/process/hide-passwords.ts';
    for (const piece of ${JSON.stringify(pieces)}) {
      const long = piece.repeat(Math.ceil(8e6 / piece.length));
      console.log(piece, hidePasswords(long).length > 0);
    }`;
    const child = spawn(process.execPath, ['--input-type=module'], { timeout: 60_000 });
    child.stdin.end(bundle(script));
    expect(await text(child.stdout)).toBe(pieces.map((piece) => `${piece} true\n`).join(''));
  }, 70_000);
});

it('tokens are removed from any text, similar names are not', () => {
  const text = `Bearer ses_${'a1B'.repeat(14)}x, svc_${'0'.repeat(40)}, #reset=lnk_${'Z'.repeat(43)}, /invites/inv_${'7'.repeat(43)}; svc_ns svc_short`;
  expect(hideTokens(text)).toBe(
    'Bearer ses_***, svc_***, #reset=lnk_***, /invites/inv_***; svc_ns svc_short',
  );
});

const node = testNode();
const IO = ['koffi', 'dgram'] as const;

async function faultOf(listening: Promise<unknown>): Promise<string | undefined> {
  return await listening.then(() => undefined, explain);
}

/** Undefined if the operator cannot fix it. */
function explain(error: unknown): string | undefined {
  const fault = listenFault('DNS_LISTEN', error);
  if (fault instanceof StartFault) return fault.message;
  expect(fault).toBe(error);
  return undefined;
}

describe('a listening error', () => {
  it.each(IO)('on a UDP port that another program has names the setting and the port (%s)', async (io) => {
    const socket = createSocket('udp4');
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    const { port } = socket.address();
    const fault = await faultOf(listenUdpFor(node, [{ address: '127.0.0.1', port }], io));
    expect(fault).toContain(`DNS_LISTEN: 127.0.0.1:${port} is in use`);
    socket.close();
  });

  it('on a TCP port that another program has names the setting and the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as { port: number };
    const fault = await faultOf(listenTcp([{ address: '127.0.0.1', port }], node));
    expect(fault).toContain(`DNS_LISTEN: 127.0.0.1:${port} is in use`);
    server.close();
  });

  it.each(IO)('on an address that the machine lacks reports this (%s)', async (io) => {
    const fault = await faultOf(listenUdpFor(node, [{ address: '192.0.2.1', port: 5300 }], io));
    expect(fault).toBe('DNS_LISTEN: this machine does not have the address of 192.0.2.1:5300');
  });

  it('on a port that this user may not use reports this; other errors are not listening errors', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'bind', address: '::1', port: 53 });
    expect(explain(error)).toContain('DNS_LISTEN: this user may not listen on [::1]:53');
    expect(explain(new TypeError('a bug'))).toBeUndefined();
    const refused = Object.assign(new Error(), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
      address: '::1',
      port: 5432,
    });
    expect(explain(refused)).toBeUndefined();
  });
});

describe('the health endpoint', () => {
  let listener: HealthListener | undefined;
  afterEach(async () => {
    await listener?.close();
    listener = undefined;
  });

  const metrics = () =>
    createMetrics(() => new QueryCounters(), {
      zones: () => 1,
      records: () => 2,
      regions: () => 2,
      tcpConnections: () => 0,
      feedLagSeconds: () => 0,
      imageBytes: () => 4096,
      imageCapacityBytes: () => 65536,
      refusedZones: () => 0,
      zonesWithoutRoom: () => 7,
      heldZones: () => 0,
      asked: () => ({ reported: 0, dropped: 0 }),
      counted: () => ({ reported: 0, other: 0, dropped: 0 }),
      diskSpace: async () => undefined,
      writeFailures: () => ({ disk_full: 0, other: 0 }),
      transfers: () => undefined,
      slowPathDropped: () => undefined,
      observed: () => undefined,
      tls: () => undefined,
      tlsFiles: () => undefined,
    });

  async function listening(readiness: () => Readiness | Promise<Readiness>): Promise<string> {
    const address = { address: '127.0.0.1', port: 0 };
    listener = await listenHealth(address, metrics(), readiness, ['node1.example.net']);
    return `http://127.0.0.1:${listener.address.port}`;
  }

  test('a process is alive while it runs, and its readiness and warnings are what it reports', async () => {
    let readiness: Readiness | Promise<Readiness> = { kind: 'waiting', reason: 'no zones loaded' };
    const url = await listening(() => readiness);
    const ready = async () => {
      const answer = await fetch(`${url}/readyz`);
      return [answer.status, await answer.text(), answer.headers.get('retry-after')];
    };
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await ready()).toEqual([503, 'no zones loaded\n', '1']);
    readiness = Promise.resolve({ kind: 'waiting', reason: 'the queue cannot be reached' });
    expect(await ready()).toEqual([503, 'the queue cannot be reached\n', '1']);
    readiness = { kind: 'ready' };
    expect(await ready()).toEqual([200, expect.any(String), null]);
    readiness = { kind: 'ready', warnings: ['the pool is nearly given', 'another'] };
    expect(await ready()).toEqual([
      200,
      'ready\nwarning: the pool is nearly given\nwarning: another\n',
      null,
    ]);
  });

  test('the metrics are exported in the text format, other paths are not found, and writing is not possible', async () => {
    const url = await listening(() => ({ kind: 'ready' }));
    const response = await fetch(`${url}/metrics?x=y`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await response.text()).toContain('zonefleet_zones 1');
    const again = await listening(() => ({ kind: 'ready' }));
    expect((await fetch(`${again}/`)).status).toBe(404);
    const posted = await fetch(`${again}/metrics`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('an error while collecting is a 500, and the process continues', async () => {
    const url = await listening(() => {
      throw new Error('a bug');
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(500);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('an address in use is an error', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    const { port } = taken.address() as { port: number };
    const starting = listenHealth({ address: '127.0.0.1', port }, metrics(), () => ({ kind: 'ready' }));
    await expect(starting).rejects.toThrow(`METRICS_LISTEN: 127.0.0.1:${port} is in use`);
    await new Promise((done) => taken.close(done));
  });

  const askAs = async (host: string) => {
    const { address, port } = (listener as HealthListener).address;
    return await new Promise<[number | undefined, IncomingHttpHeaders]>((done, fail) => {
      get({ host: address, port, path: '/metrics', headers: { host } }, (response) => {
        response.resume();
        done([response.statusCode, response.headers]);
      }).on('error', fail);
    });
  };

  test('only allowed host names are answered, and responses may not be cached or sniffed', async () => {
    await listening(() => ({ kind: 'ready' }));
    for (const host of ['evil.example', 'evil.example:9153', 'node2.example.net'])
      expect((await askAs(host))[0]).toBe(421);
    for (const host of ['localhost', '192.0.2.1:9153', 'nameserver:9153', 'node1.example.net:9153'])
      expect((await askAs(host))[0]).toBe(200);
    await listening(() => ({ kind: 'ready' }));
    for (const host of ['localhost', 'evil.example'])
      expect((await askAs(host))[1]).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
  });

  test('connections that send nothing do not lock a scraper out', async () => {
    const url = await listening(() => ({ kind: 'ready' }));
    const { address, port } = (listener as HealthListener).address;
    const idle = Array.from({ length: 100 }, () => connect(port, address).on('error', () => {}));
    await Promise.all(idle.map((socket) => once(socket, 'connect').catch(() => {})));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });
});

const LIMIT_PROGRAM = `import { openFileLimit } from './src/process/open-file-limit.ts';
  console.log(openFileLimit());`;

it.skipIf(process.platform !== 'linux')(
  'the limit of open files is the one from the start of the process',
  () => {
    const command = `ulimit -n 333; exec "${process.execPath}" --input-type=module`;
    const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', input: bundle(LIMIT_PROGRAM) });
    expect(stdout).toBe('333\n');
  },
);
