// DNS over HTTPS with real clients, a proxy that is configured as documented, and clients that break the rules.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { listenTcp, type TcpListener } from '../../../src/nameserver/tcp/tcp.ts';
import { startTlsThread, type TlsThread } from '../../../src/nameserver/tls/start-tls-thread.ts';
import { openTlsFiles } from '../../../src/process/tls-files.ts';
import {
  FLAG,
  FRAME,
  fieldBlock,
  frame,
  RawHttp2Client,
  requestBlock,
} from '../../support/answer/http2-frames.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { ask, testNode } from '../../support/answer/test-node.ts';
import { makeChain } from '../../support/certificates/make-certificate.ts';
import { startDaemon } from '../../support/peers/daemon.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { ROOT } from '../../support/tests/sources.ts';
import { until } from '../../support/tests/until.ts';
import { runIn } from '../../support/validators/run-program.ts';

const NAME = 'ns1.example.net';
const HOST = '127.0.0.1';
const PAGE = readFileSync(join(ROOT, 'docs/operating/encrypted-transports.md'), 'utf8');
const WWW = queryFor('www.example.test.', TYPE.A);
const BIG = queryFor('big.example.test.', TYPE.TXT);
const target = (query: Uint8Array) => `/dns-query?dns=${Buffer.from(query).toString('base64url')}`;
const needs = (...programs: string[]) => {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
};

const node = testNode();
let directory: string;
let thread: TlsThread;
let tcp: TcpListener;
let tcpPort: number;
let port: number;
let plainPort: number;

function block(title: string): string {
  const [, text = ''] = PAGE.split(`\n\`\`\`${title}\n`);
  return text.slice(0, text.indexOf('```'));
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-doh-'));
  const { root, middle, leaf } = await makeChain([NAME, HOST]);
  const paths = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  writeFileSync(paths.cert, leaf.pem + middle.pem);
  writeFileSync(paths.key, leaf.key);
  writeFileSync(join(directory, 'ca.pem'), root.pem);
  writeFileSync(join(directory, 'query'), WWW);
  const log = pino({ level: 'silent' });
  [port, plainPort] = [await freePort(), await freePort()];
  thread = await startTlsThread({
    thread: {
      image: node.image.buffer,
      slot: 102,
      settings: node.settings,
      counters: node.counters.buffer,
      dotListen: [],
      dohListen: [{ address: HOST, port }],
      dohPlainListen: [{ address: HOST, port: plainPort }],
      inherited: [],
    },
    files: await openTlsFiles({ prefix: 'DNS_TLS', ...paths, log }),
    slowPath: undefined,
    log,
    reportFailure: (error) => node.failures.push(error),
  });
  tcp = await listenTcp([{ address: HOST, port: 0 }], testNode());
  tcpPort = tcp.addresses[0]?.port as number;
});
afterAll(async () => {
  await thread?.stop();
  await tcp?.close();
  rmSync(directory, { recursive: true, force: true });
});
afterEach(() => expect(node.failures).toEqual([]));

const run = (program: string, ...args: string[]) => runIn(directory, program, args);

const clients: [string, string[]][] = [
  ['kdig', ['+https', '+tls-ca=ca.pem', `+tls-hostname=${NAME}`]],
  ['kdig', ['+https-get', '+tls-ca=ca.pem', `+tls-hostname=${NAME}`]],
  ['dig', ['+https', '+tls-ca=ca.pem', `+tls-hostname=${NAME}`]],
  ['dig', ['+https-get', '+tls-ca=ca.pem', `+tls-hostname=${NAME}`]],
];

describe.each(clients)('%s %j', (program, options) => {
  it.skipIf(!isInstalled(program))('receives the answers of TCP', async () => {
    const summary = async (...args: string[]) => {
      const lines = (await run(program, `@${HOST}`, ...args)).split('\n');
      const status = lines.flatMap((line) => /status: [A-Z]\w*/.exec(line) ?? []);
      return [...status, ...lines.filter((line) => /^[^;\s]/.test(line))];
    };
    for (const question of [
      ['www.example.test'],
      ['big.example.test', 'TXT'],
      ['x.example.test'],
      ['other.test'],
    ]) {
      const overTcp = await summary('-p', `${tcpPort}`, '+tcp', ...question);
      expect(await summary('-p', `${port}`, ...options, ...question)).toEqual(overTcp);
      expect(overTcp.length).toBeGreaterThan(0);
    }
  });
});

describe.skipIf(!isInstalled('curl'))(`curl${needs('curl')}`, () => {
  const overTcp = ask(WWW, testNode(), { transport: 'tcp', address: Uint8Array.of(127, 0, 0, 1) });

  async function curl(url: string, ...options: string[]): Promise<string> {
    const form = '%{http_code} %{http_version} %{content_type}';
    const printed = await run(
      'curl',
      '-sS',
      '--cacert',
      'ca.pem',
      '-o',
      'answer',
      '-w',
      form,
      ...options,
      url,
    );
    expect(readFileSync(join(directory, 'answer'))).toEqual(Buffer.from(overTcp));
    return printed;
  }

  it.each([
    ['2', '--http2'],
    ['1.1', '--http1.1'],
  ])('receives the answer of TCP over HTTP/%s', async (version, option) => {
    const expected = `200 ${version} application/dns-message`;
    expect(await curl(`https://${HOST}:${port}${target(WWW)}`, option)).toBe(expected);
    const post = ['--data-binary', '@query', '-H', 'content-type: application/dns-message'];
    expect(await curl(`https://${HOST}:${port}/dns-query`, option, ...post)).toBe(expected);
  });

  it.skipIf(!isInstalled('nginx'))(`through the documented proxy${needs('nginx')}`, async () => {
    const proxyPort = await freePort();
    const location = block('nginx').replace('8054', `${plainPort}`);
    const server = `server { listen ${HOST}:${proxyPort}; ${location} }`;
    const nginx = await startDaemon({
      program: 'nginx',
      files: () => ({
        'nginx.conf': `daemon off; pid nginx.pid; error_log stderr; events {} http { access_log off; ${server} }`,
      }),
      args: (at) => ['-p', at, '-c', 'nginx.conf', '-e', 'stderr'],
      isReady: () =>
        new Promise((done) => {
          const socket = connect(proxyPort, HOST, () => done(true)).on('error', () => done(false));
          socket.end();
        }),
    });
    try {
      for (let i = 0; i < 3; i++)
        expect(await curl(`http://${HOST}:${proxyPort}${target(WWW)}`)).toBe(
          '200 1.1 application/dns-message',
        );
    } finally {
      await nginx.stop();
    }
  });
});

it.skipIf(!isInstalled('dnsperf'))(`answers dnsperf${needs('dnsperf')}`, async () => {
  writeFileSync(
    join(directory, 'queries'),
    'www.example.test A\nbig.example.test TXT\nnone.example.test A\n',
  );
  // dnsperf 2.10 has one buffer for each connection, so it cannot have several queries in progress.
  const options = ['-m', 'doh', '-O', `doh-uri=https://${HOST}/dns-query`, '-c', '1', '-q', '1', '-n', '10'];
  const printed = await run('dnsperf', ...options, '-s', HOST, '-p', `${port}`, '-d', 'queries');
  expect(printed).toMatch(/Queries completed: +30 \(100\.00%\)/);
  expect(printed).toMatch(/Response codes: +NOERROR 20 \(66\.67%\), NXDOMAIN 10 \(33\.33%\)/);
});

it.skipIf(!isInstalled('h2load'))(`answers h2load with many streams${needs('h2load')}`, async () => {
  const printed = await run(
    'h2load',
    '-n',
    '20000',
    '-c',
    '50',
    '-m',
    '100',
    `https://${HOST}:${port}${target(WWW)}`,
  );
  expect(printed).toContain('20000 succeeded, 0 failed, 0 errored, 0 timeout');
});

describe('a client that breaks the rules', () => {
  const get = requestBlock('GET', target(BIG));
  const ids = (count: number, first = 0) => Array.from({ length: count }, (_, i) => 2 * (first + i) + 1);
  const open: RawHttp2Client[] = [];
  const connectRaw = async (options?: Parameters<typeof RawHttp2Client.open>[1]) => {
    const client = await RawHttp2Client.open(port, options);
    open.push(client);
    return client;
  };
  let rss: number;
  const expectService = async () => {
    const session = connectHttp2(`https://${HOST}:${port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': target(WWW) });
    expect((await buffer(stream)).length).toBeGreaterThan(WWW.length);
    session.destroy();
  };
  beforeAll(() => {
    rss = process.memoryUsage().rss;
  });
  afterEach(async () => {
    await expectService();
    expect(process.memoryUsage().rss - rss).toBeLessThan(256 << 20);
    for (const client of open.splice(0)) client.socket.destroy();
  });

  /** Sends what `next` returns until the server ends the connection. Returns the number of rounds. */
  async function flood(client: RawHttp2Client, most: number, next: (round: number) => Uint8Array[]) {
    let round = 0;
    while (round < most && (await client.send(...next(round)))) round++;
    return round;
  }

  it('is disconnected if it resets streams (CVE-2023-44487)', async () => {
    const client = await connectRaw();
    const cancel = Buffer.of(0, 0, 0, 8);
    const rounds = await flood(client, 1000, (round) =>
      ids(50, 50 * round).flatMap((id) => [
        frame(FRAME.HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, id, get),
        frame(FRAME.RST_STREAM, 0, id, cancel),
      ]),
    );
    expect(rounds).toBeLessThan(1000);
  });

  it('is disconnected if it makes the server reset streams (CVE-2025-8671)', async () => {
    const client = await connectRaw();
    const rounds = await flood(client, 1000, (round) =>
      ids(50, 50 * round).flatMap((id) => [
        frame(FRAME.HEADERS, FLAG.END_HEADERS, id, get),
        frame(FRAME.WINDOW_UPDATE, 0, id, Buffer.alloc(4)), // an increment of 0 is an error
      ]),
    );
    expect(rounds).toBeLessThan(1000);
  });

  it('is disconnected if its header does not end', async () => {
    const client = await connectRaw();
    await client.send(frame(FRAME.HEADERS, 0, 1, get));
    const more = frame(FRAME.CONTINUATION, 0, 1, fieldBlock({ x: 'x'.repeat(1000) }));
    expect(await flood(client, 1000, () => [more])).toBeLessThan(1000);
  });

  it.each([
    ['PING', frame(FRAME.PING, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', frame(FRAME.SETTINGS, 0, 0)],
  ])('is disconnected if it sends %s frames and does not read the replies', async (_, one) => {
    const client = await connectRaw({ reads: false });
    expect(await flood(client, 2000, () => Array(1000).fill(one))).toBeLessThan(2000);
  });

  it('has 10 seconds for a header', async () => {
    const socket = connect(plainPort, HOST, () => socket.write('GET /dns-query HTTP/1.1\r\nx: '));
    socket.on('error', () => {}).resume();
    const trickle = setInterval(() => socket.write('x'), 100);
    await until(() => socket.closed, 'the end of the connection');
    clearInterval(trickle);
    expect(node.counters.tcpExpired).toBeGreaterThan(0);
  });
});

it.each([
  ['certbot', (at: string) => ({ RENEWED_LINEAGE: at }), ['fullchain.pem', 'privkey.pem']],
  ['lego', (at: string) => ({ LEGO_CERT_PATH: `${at}/c`, LEGO_CERT_KEY_PATH: `${at}/k` }), ['c', 'k']],
] as const)('the documented hook of %s installs a pair that the group can read', (_, variables, [
  cert,
  key,
]) => {
  const at = mkdtempSync(join(directory, 'hook-'));
  writeFileSync(join(at, cert), 'CERT');
  writeFileSync(join(at, key), 'KEY', { mode: 0o600 });
  const script = block('renewal hook')
    .replaceAll('/etc/zonefleet/tls', at)
    .replaceAll('zonefleet-tls', `${process.getgid?.()}`);
  writeFileSync(join(at, 'hook'), script, { mode: 0o700 });
  execFileSync(join(at, 'hook'), { env: { PATH: process.env.PATH, ...variables(at) } });
  expect(readFileSync(join(at, 'chain.pem'), 'utf8') + readFileSync(join(at, 'key.pem'), 'utf8')).toBe(
    'CERTKEY',
  );
  expect(statSync(join(at, 'key.pem')).mode & 0o777).toBe(0o640);
});
