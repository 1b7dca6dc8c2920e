// DNS over TLS of a real node, with clients and forwarders of other projects, and with clients that attack it.

import { spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { exchangeUdp, framed, TcpClient } from '../../support/answer/sockets.ts';
import { makeChain } from '../../support/certificates/make-certificate.ts';
import { startDaemon } from '../../support/peers/daemon.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { dig, TransferFleet } from '../../support/peers/transfer-fleet.ts';
import { freePort } from '../../support/processes/free-port.ts';
import type { NodeProcess } from '../../support/processes/nodes.ts';
import { until } from '../../support/tests/until.ts';
import { runProgram } from '../../support/validators/run-program.ts';

const HOST = '127.0.0.1';
const NAME = 'ns1.example.net';
const needs = (program: string) => (isInstalled(program) ? '' : ` (skipped: needs ${program})`);
const query = (name: string, id = 1) =>
  queryFor({ name: parseName(name), type: TYPE.TXT, udpPayloadSize: undefined }, id);
const WWW = query('www.example.test.');
const LARGE = query('large.example.test.');

let fleet: TransferFleet;
let node: NodeProcess;
let directory: string;
let dot: { address: string; port: number };
let pin: string;
const at = (file: string) => join(directory, file);
const tls = { rejectUnauthorized: false };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-dot-'));
  chmodSync(directory, 0o755);
  const { root, middle, leaf } = await makeChain([NAME]);
  writeFileSync(at('cert.pem'), leaf.pem + middle.pem);
  writeFileSync(at('key.pem'), leaf.key);
  writeFileSync(at('ca.pem'), root.pem);
  const spki = new X509Certificate(leaf.pem).publicKey.export({ type: 'spki', format: 'der' });
  pin = createHash('sha256').update(spki).digest('base64');
  dot = { address: HOST, port: await freePort() };
  fleet = await TransferFleet.create();
  const large = Array.from({ length: 200 }, (_, i) => `large TXT "${i} ${'x'.repeat(240)}"`);
  await fleet.saveZones(1, ['example.test'], ['www TXT "one"', 'alias CNAME www', ...large]);
  const files = { DNS_TLS_CERT: at('cert.pem'), DNS_TLS_KEY: at('key.pem') };
  await fleet.startNodes(1, { DOT_LISTEN: `${HOST}:${dot.port}`, RRL: 'off', ...files });
  node = fleet.nodes[0] as NodeProcess;
});
afterAll(async () => {
  await fleet?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the status and the records of an answer that dig or kdig has printed. */
function parts(text: string): string[] {
  const status = /status: (\w+)/.exec(text)?.[1] ?? text;
  return [status, ...text.split('\n').filter((line) => /^[^;\s]/.test(line))].map((line) =>
    line.replace(/\s+/g, ' '),
  );
}

/** Longest time for which the other server may have had an answer in its cache. */
const CACHED_S = 10;
const TTL = / (\d+) IN /;
const ttlOf = (line: string) => Number(TTL.exec(line)?.[1] ?? 0);
const withoutTtl = (line: string) => line.replace(TTL, ' IN ');

const QUESTIONS = [
  ['www.example.test', 'TXT'],
  ['alias.example.test', 'TXT'],
  ['large.example.test', 'TXT'],
  ['absent.example.test', 'A'],
  ['example.test', 'ANY'],
];

describe.skipIf(!isInstalled('kdig'))(`kdig${needs('kdig')}`, () => {
  const kdig = async (...args: string[]) =>
    (await runProgram('kdig', [`@${HOST}`, '-p', `${dot.port}`, '+retry=0', '+time=5', ...args], directory))
      .text;

  it('gets the answers of TCP, and verifies the name or the key of the node', async () => {
    for (const options of [
      ['+tls-ca=ca.pem', `+tls-hostname=${NAME}`],
      [`+tls-pin=${pin}`],
      ['+tls', '+padding'],
    ]) {
      for (const question of QUESTIONS) {
        const overTcp = parts(await dig(node.address.port, '+tcp', ...question));
        expect(parts(await kdig(...options, ...question))).toEqual(overTcp);
      }
    }
  });

  it('gets padded answers (RFC 8467 §4.1)', async () => {
    expect(await kdig('+tls', '+padding', 'www.example.test', 'TXT')).toMatch(/Received 468 B/);
  });

  it('refuses the node for another name or pin', async () => {
    const other = Buffer.alloc(32).toString('base64');
    for (const options of [['+tls-ca=ca.pem', '+tls-hostname=ns2.example.net'], [`+tls-pin=${other}`]])
      expect(await kdig(...options, 'www.example.test')).toMatch(/failed|WARNING/);
  });
});

it.skipIf(!isInstalled('dnsperf'))(`dnsperf loses no query${needs('dnsperf')}`, async () => {
  const small = QUESTIONS.filter(([name]) => name !== 'large.example.test'); // it reads answers of at most 16 KiB
  writeFileSync(at('queries'), small.map((question) => `${question.join(' ')}\n`).join(''));
  const options = `-m dot -s ${HOST} -p ${dot.port} -d ${at('queries')} -c 10 -n 2500 -q 50`;
  const { text } = await runProgram('dnsperf', options.split(' '));
  expect(text).toMatch(/Queries completed:\s+10000 \(100.00%\)/);
});

/** Runs a server between clients and the node, and compares its answers with those of the node. */
async function forwards(
  program: string,
  files: (port: number, directory: string) => Record<string, string>,
  args: readonly string[],
) {
  const port = await freePort();
  const server = await startDaemon({
    program,
    files: (place) => files(port, place),
    args: () => args,
    isReady: async () => (await dig(port, '+time=1', 'www.example.test', 'TXT')).includes('status: NOERROR'),
  });
  try {
    const before = await fleet.metric('zonefleet_queries_total{transport="tls"');
    for (const question of QUESTIONS.slice(0, 3)) {
      const [direct, forwarded] = [
        parts(await dig(node.address.port, '+tcp', ...question)).sort(),
        parts(await dig(port, '+tcp', ...question)).sort(),
      ];
      expect(forwarded.map(withoutTtl)).toEqual(direct.map(withoutTtl));
      // The server may have cached the answer a moment ago.
      for (const [i, line] of forwarded.entries()) {
        const [ttl, most] = [ttlOf(line), ttlOf(direct[i] as string)];
        expect(ttl === most || (ttl < most && ttl > most - CACHED_S)).toBe(true);
      }
    }
    expect(await fleet.metric('zonefleet_queries_total{transport="tls"')).toBeGreaterThan(before);
  } finally {
    await server.stop();
  }
}

it.skipIf(!isInstalled('dnsdist'))(`dnsdist forwards over TLS${needs('dnsdist')}`, () =>
  forwards(
    'dnsdist',
    (port) => ({
      'dnsdist.conf': [
        `setLocal('${HOST}:${port}')`,
        `newServer({address='${HOST}:${dot.port}', tls='openssl', subjectName='${NAME}', caStore='${at('ca.pem')}', validateCertificates=true})`,
      ].join('\n'),
    }),
    ['-C', 'dnsdist.conf', '--supervised', '--disable-syslog'],
  ),
);

it.skipIf(!isInstalled('unbound'))(`Unbound queries over TLS${needs('unbound')}`, () =>
  forwards(
    'unbound',
    (port, place) => ({
      'unbound.conf': [
        'server:',
        `  directory: "${place}"`,
        ...['chroot: ""', 'username: ""', 'pidfile: ""', 'use-syslog: no', `interface: ${HOST}`],
        ...[`port: ${port}`, 'do-not-query-localhost: no', 'do-ip6: no', 'local-zone: "test." nodefault'],
        ...['module-config: "iterator"', `tls-cert-bundle: "${at('ca.pem')}"`],
        'stub-zone:',
        ...['name: example.test', `stub-addr: ${HOST}@${dot.port}#${NAME}`, 'stub-tls-upstream: yes'],
      ].join('\n'),
    }),
    ['-d', '-c', 'unbound.conf'],
  ),
);

describe('an attacker', () => {
  const residentBytes = () => fleet.metric('process_resident_memory_bytes');

  /** Returns how many of 100 queries over UDP, TCP and TLS were answered. */
  async function answered(): Promise<Record<string, number>> {
    const tcp = await TcpClient.open(node.address);
    const overTls = await TcpClient.open(dot, { tls, from: '127.0.0.9' });
    const queries = Array.from({ length: 100 }, (_, id) => query('www.example.test.', id));
    tcp.socket.write(framed(...queries));
    overTls.socket.write(framed(...queries));
    const udp = await Promise.all(queries.map((each) => exchangeUdp(node.address, each)));
    const counts = {
      udp: udp.filter((answer) => answer !== undefined).length,
      tcp: (await tcp.received(100)).length,
      tls: (await overTls.received(100)).length,
    };
    tcp.close();
    overTls.close();
    return counts;
  }
  const ALL = { udp: 100, tcp: 100, tls: 100 };

  it('with 10,000 half-open handshakes delays no other client, and uses little memory', async () => {
    let before = 0;
    const open = new Set<Socket>();
    let closed = 0;
    for (let i = 0; i < 10_000; i++) {
      const socket = connect(dot.port, HOST);
      socket.on('error', () => {});
      socket.on('close', () => {
        closed++;
        open.delete(socket);
      });
      open.add(socket);
      if (i % 3 === 0) socket.write(Buffer.from('1603010200010001fc0303', 'hex')); // the head of a ClientHello
      if (i % 100 === 0) await once(socket, 'connect').catch(() => {});
      if (i % 2500 === 0) expect(await answered()).toEqual(ALL);
      if (i === 2500) before = await residentBytes(); // the first ones use memory for code
    }
    expect(await answered()).toEqual(ALL);
    await until(() => closed === 10_000, 'all connections are closed');
    expect(await fleet.metric('zonefleet_tls_handshakes_total{outcome="refused"}')).toBeGreaterThan(9000);
    expect(await fleet.metric('zonefleet_tls_handshakes_total{outcome="timeout"}')).toBeGreaterThan(0);
    expect((await residentBytes()) - before).toBeLessThan(64 << 20);
  });

  it('that sends single octets of queries is disconnected', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => TcpClient.open(dot, { tls })));
    const octets = framed(WWW);
    for (let i = 0; clients.some(({ over }) => !over); i++) {
      for (const { socket, over } of clients) if (!over) socket.write(octets.subarray(i % 20, (i % 20) + 1));
      expect(i).toBeLessThan(60);
      await pause(1000);
    }
    expect(await answered()).toEqual(ALL);
  });

  it('that does not read its answers is disconnected, and uses little memory', async () => {
    await answered(); // the first answers use memory for code
    const before = await residentBytes();
    const clients: TcpClient[] = [];
    for (let i = 0; i < 80; i++) clients.push(await TcpClient.open(dot, { tls, reads: false }));
    let most = 0;
    for (const { socket } of clients) socket.write(framed(...Array.from({ length: 1000 }, () => LARGE)));
    expect(await answered()).toEqual(ALL);
    const connections = () => fleet.metric('zonefleet_tls_connections');
    await until(async () => (await connections()) > 0, 'connections are reported');
    await until(async () => {
      most = Math.max(most, await residentBytes());
      return (await connections()) === 0;
    }, 'all connections are closed');
    expect(most - before).toBeLessThan(192 << 20); // all answers have 4 GiB
    for (const client of clients) client.close();
  });

  it.skipIf(!isInstalled('openssl'))(`cannot renegotiate${needs('openssl')}`, async () => {
    const client = spawn('openssl', ['s_client', '-connect', `${HOST}:${dot.port}`, '-tls1_2']);
    let text = '';
    for (const stream of [client.stdout, client.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
      });
    await until(() => text.includes('Verify return code'), 'connected');
    client.stdin.write('R\n');
    await until(
      () => /no renegotiation/.test(text),
      () => text,
    );
    client.kill();
  });
});

describe('a certificate', () => {
  it('is replaced under load without a failed query, and a bad file keeps it', async () => {
    let isOver = false;
    let answers = 0;
    const serials = new Set<string>();
    const load = (async () => {
      const lasting = await TcpClient.open(dot, { tls });
      for (; !isOver; answers++) {
        const client = connectTls({ host: HOST, port: dot.port, ...tls });
        client.write(framed(WWW));
        await once(client, 'data');
        serials.add(client.getPeerX509Certificate()?.serialNumber ?? '');
        client.destroy();
        lasting.socket.write(framed(WWW));
        await lasting.received(answers + 1);
      }
      lasting.close();
    })();
    const { middle, leaf } = await makeChain([NAME]);
    writeFileSync(at('key.pem'), leaf.key);
    writeFileSync(at('cert.pem'), leaf.pem + middle.pem);
    await until(() => serials.size === 2, 'the renewed certificate', 90_000);
    writeFileSync(at('cert.pem'), 'none');
    await until(
      async () => (await fleet.metric('zonefleet_tls_reload_failures_total')) > 0,
      'a failure',
      90_000,
    );
    isOver = true;
    await load;
    expect(serials.size).toBe(2);
    expect(answers).toBeGreaterThan(100);
    expect(node.log()).toContain('DNS_TLS_CERT cannot be reloaded: the previous certificate stays in use');
  });
});
