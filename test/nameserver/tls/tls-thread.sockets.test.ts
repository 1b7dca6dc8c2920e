import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { startTlsThread, type TlsThread } from '../../../src/nameserver/tls/start-tls-thread.ts';
import { openTlsFiles, type TlsFiles } from '../../../src/process/tls-files.ts';
import { FakeTransfers } from '../../support/answer/fake-transfers.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import { framed, TcpClient } from '../../support/answer/sockets.ts';
import { testNode } from '../../support/answer/test-node.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { until } from '../../support/tests/until.ts';

const log = pino({ level: 'silent' });
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
  thread = await startTlsThread({
    thread: {
      image: node.image.buffer,
      slot: 102,
      settings: node.settings,
      counters: node.counters.buffer,
      dotListen: [at],
      dohListen: [],
      dohPlainListen: [],
      inherited: [],
    },
    files,
    slowPath: transfers.slowPath,
    log,
    reportFailure: (error) => node.failures.push(error),
  });
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

describe('the TLS thread', () => {
  it('answers pipelined queries over TLS 1.2 and 1.3, with and without ALPN', async () => {
    for (const tls of [
      {},
      { ALPNProtocols: ['dot'] },
      { maxVersion: 'TLSv1.2' as const },
      { servername: '', checkServerIdentity: () => undefined },
    ]) {
      const client = await connect(tls);
      expect(await ask(client, [1, 2, 3])).toEqual(Array(3).fill('NOERROR aa 1/1/0/0'));
      client.socket.end(framed(www(4))); // after its last query, a client may end its side
      await client.received(4);
      await until(() => client.over, 'the end of the connection');
    }
    expect([...node.counters.answerCounts()]).toEqual([{ transport: 'tls', type: 'A', rcode: 0, count: 16 }]);
  });
});
