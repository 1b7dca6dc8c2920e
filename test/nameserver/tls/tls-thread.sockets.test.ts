import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { InheritedAddress } from '../../../src/nameserver/handover/inherited.ts';
import { F_DUPFD_CLOEXEC, openLibc } from '../../../src/nameserver/threads/libc.ts';
import { startTlsThread, type TlsThread } from '../../../src/nameserver/tls/start-tls-thread.ts';
import { openTlsFiles, type TlsFiles } from '../../../src/process/tls-files.ts';
import { FakeTransfers } from '../../support/answer/fake-transfers.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import { framed, TcpClient } from '../../support/answer/sockets.ts';
import { testNode } from '../../support/answer/test-node.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { until } from '../../support/tests/until.ts';

const log = collectingLog();
const NAME = 'ns1.example.net';
const node = testNode({ hasTransfers: true });
const transfers = new FakeTransfers();
const www = (id: number) => queryFor('www.example.test.', TYPE.A, { id });

let directory: string;
let files: TlsFiles;
let ca: string;
let thread: TlsThread;
let at: { address: string; port: number };
const clients: TcpClient[] = [];

async function writePair(): Promise<string> {
  const { pem, key } = await makeCertificate({ names: [NAME] });
  writeFileSync(join(directory, 'cert'), pem);
  writeFileSync(join(directory, 'key'), key);
  return pem;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-tls-'));
  ca = await writePair();
  const paths = { cert: join(directory, 'cert'), key: join(directory, 'key') };
  files = (await openTlsFiles({ prefix: 'DNS_TLS', ...paths, log })) as TlsFiles;
  at = { address: '127.0.0.1', port: await freePort() };
  thread = await start();
});

const start = (inherited: InheritedAddress[] = []) =>
  startTlsThread({
    thread: {
      image: node.image.buffer,
      slot: 102,
      settings: node.settings,
      counters: node.counters.buffer,
      dotListen: [at],
      dohListen: [],
      dohPlainListen: [],
      inherited,
    },
    files,
    slowPath: transfers.slowPath,
    log,
    reportFailure: (error) => node.failures.push(error),
    entry: new URL('../../support/answer/mortal-tls-thread.ts', import.meta.url),
  });
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(async () => {
  await thread?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function connect(tls: ConnectionOptions = {}, reads = true) {
  const client = await TcpClient.open(at, { tls: { ca, servername: NAME, ...tls }, reads });
  clients.push(client);
  return client;
}

async function ask(client: TcpClient, ids: number[]): Promise<string[]> {
  client.socket.write(framed(...ids.map(www)));
  return (await client.received(ids.length)).map(summarize);
}

/** Returns the protocol of TLS and that of ALPN, or `refused`. */
async function negotiate(tls: ConnectionOptions): Promise<string> {
  const socket = await connect(tls).then(
    ({ socket }) => socket as TLSSocket,
    () => undefined,
  );
  return socket === undefined ? 'refused' : `${socket.getProtocol()} ${socket.alpnProtocol}`;
}

describe('the TLS thread', () => {
  it('ends a handshake if one client has too many, and answers others', async () => {
    const open = Array.from({ length: 60 }, () => connectTcp(at.port, at.address).on('error', () => {}));
    await Promise.all(open.slice(50).map((socket) => once(socket, 'close')));
    const client = await TcpClient.open(at, { tls: { ca, servername: NAME }, from: '127.0.0.2' });
    clients.push(client);
    expect(await ask(client, [1])).toEqual(['NOERROR aa 1/1/0/0']);
    await until(() => thread.state()?.handshakes.refused === 11, 'counted');
    expect(thread.state()).toMatchObject({ connections: 1, handshakes: { done: 1 } });
    for (const socket of open) socket.destroy();
  });

  it('does not start if another program listens on an address', async () => {
    await expect(start()).rejects.toThrow(`DOT_LISTEN: 127.0.0.1:${at.port} is in use by another program`);
  });

  it('answers pipelined queries, also after the client has ended its side', async () => {
    for (const tls of [{}, { ALPNProtocols: ['dot'] }, { maxVersion: 'TLSv1.2' as const }]) {
      const client = await connect(tls);
      expect(await ask(client, [1, 2, 3])).toEqual(Array(3).fill('NOERROR aa 1/1/0/0'));
      client.socket.end(framed(www(4)));
      await client.received(4);
      await until(() => client.over, 'the end of the connection');
    }
    expect([...node.counters.answerCounts()]).toEqual([{ transport: 'tls', type: 'A', rcode: 0, count: 13 }]);
  });

  it.each<[string, ConnectionOptions, string]>([
    ['TLS 1.3 with ALPN', { ALPNProtocols: ['h2', 'dot'] }, 'TLSv1.3 dot'],
    ['TLS 1.3 without ALPN', {}, 'TLSv1.3 false'],
    ['TLS 1.2 with ECDHE and AEAD', { maxVersion: 'TLSv1.2' }, 'TLSv1.2 false'],
    ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }, 'refused'],
    ['CBC', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' }, 'refused'],
    ['another protocol by ALPN (RFC 7301 §3.2)', { ALPNProtocols: ['h2'] }, 'refused'],
  ])('negotiates %s', async (_, tls, wanted) => {
    expect(await negotiate(tls)).toBe(wanted);
  });

  it('relays messages to the transfer thread, with the right to transfer (RFC 9103 §7.1), and answers in parts', async () => {
    const axfr = queryFor('example.test.', TYPE.AXFR, { id: 9 });
    for (const tls of [
      { ALPNProtocols: ['dot'] },
      {},
      { ALPNProtocols: ['dot'], maxVersion: 'TLSv1.2' as const },
    ])
      (await connect(tls)).socket.write(framed(axfr));
    const asked = await transfers.received(3);
    expect(asked.map(({ transport, isXot }) => [transport, isXot])).toEqual([
      [2, true],
      [2, false],
      [2, false],
    ]);
    expect(Buffer.from(asked[0]!.octets)).toEqual(axfr);
    // a transfer in three parts, of which each uses the memory of the previous one
    const memory = new Uint8Array(new SharedArrayBuffer(60_000));
    const { id } = asked[0]!;
    let parts = 0;
    const sendPart = () => {
      memory.fill(++parts, 2);
      new DataView(memory.buffer).setUint16(0, memory.length - 2);
      transfers.answer(id, memory, parts === 3);
    };
    transfers.onMore = sendPart;
    sendPart();
    const messages = await clients[0]!.received(3);
    expect(messages.map((message) => [message.length, message[0], message.at(-1)])).toEqual(
      [1, 2, 3].map((part) => [59_998, part, part]),
    );
    transfers.slowPath.detach(); // the transfer thread ends
    await until(() => clients[1]!.over && clients[2]!.over, 'the answers are lost');
    expect(transfers.slowPath.limit.waiting).toBe(0);
    clients[0]!.socket.write(framed(axfr));
    expect(summarize((await clients[0]!.received(4))[3]!)).toBe('SERVFAIL - 0/0/0/0');
  });

  it('resumes sessions, until the ticket keys are replaced with the certificate', async () => {
    const first = await connect();
    const session = await new Promise<Buffer>((done) => {
      first.socket.once('session', done);
      void ask(first, [1]);
    });
    const isResumed = async () => ((await connect({ session })).socket as TLSSocket).isSessionReused();
    expect(await isResumed()).toBe(true);
    ca = await writePair();
    await files.reload();
    const next = await connect();
    expect((next.socket as TLSSocket).getPeerX509Certificate()?.toString()).toBe(files.pair.cert);
    expect(await isResumed()).toBe(false);
    expect(await ask(first, [1, 2])).toHaveLength(3); // older connections stay
    await until(() => thread.state()?.resumed === 1, 'counted');
  });

  it('is restarted with the same sockets if it ends', async () => {
    node.counters.failed = -1;
    const ended = 'the TLS thread ended: restarting it';
    await until(() => log.lines.some(({ message }) => message === ended), 'ended');
    const client = await connect();
    expect(await ask(client, [1])).toEqual(['NOERROR aa 1/1/0/0']);
  });

  it('serves existing connections after its release, while another thread accepts new ones', async () => {
    const [before, open] = [thread, await connect()];
    const { fcntl } = await openLibc();
    const copies = before.sockets.map((socket) => ({
      ...socket,
      tcp: fcntl(socket.tcp, F_DUPFD_CLOEXEC, 0),
    }));
    thread = await start(copies);
    before.release();
    for (const client of [open, await connect(), await connect(), await connect()])
      expect(await ask(client, [1])).toEqual(['NOERROR aa 1/1/0/0']);
    open.socket.end();
    await before.finished();
    await before.stop();
    expect(await ask(await connect(), [1])).toEqual(['NOERROR aa 1/1/0/0']);
  });
});
