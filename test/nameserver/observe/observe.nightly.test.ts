// dnstap read by the tools of other projects, and the query log of a real node.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { exchangeUdp, framed, TcpClient } from '../../support/answer/sockets.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { TransferFleet } from '../../support/peers/transfer-fleet.ts';
import { freePort } from '../../support/processes/free-port.ts';
import type { NodeProcess } from '../../support/processes/nodes.ts';
import { ROOT } from '../../support/tests/sources.ts';
import { until } from '../../support/tests/until.ts';

const missing = ['fstrm_capture', 'dnstap-read'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const jqMissing = isInstalled('jq') ? '' : ' (skipped: needs jq)';

let fleet: TransferFleet;
let directory: string;
beforeAll(async () => {
  fleet = await TransferFleet.create();
  await fleet.saveZones(1, ['example.test'], ['www A 192.0.2.7', 'www AAAA 2001:db8::7']);
});
afterAll(() => fleet.stop());

async function withNode(
  env: (directory: string) => Record<string, string>,
  use: (node: NodeProcess) => Promise<void>,
): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-observe-'));
  await fleet.startNodes(1, { DNSTAP_SAMPLE: '1/1', ...env(directory) });
  const node = fleet.nodes.pop() as NodeProcess;
  try {
    await use(node);
  } finally {
    await node.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const query = (name: string, type: number, id: number) =>
  queryFor({ name: parseName(name), type, udpPayloadSize: 1232 }, id);

interface Exchange {
  readonly protocol: string;
  readonly sent: string;
  readonly received: string;
}

const NAMES = ['www.example.test.', 'WWW.example.test.', 'absent.example.test.', 'www.example.net.', '.'];

const hex = (octets: Uint8Array | undefined) =>
  Buffer.from(octets ?? [])
    .toString('hex')
    .toUpperCase();

interface Ports {
  readonly DOT: number;
  readonly DOH: number;
}

/** Sends queries over UDP, TCP, TLS and HTTP. */
async function exchange({ address }: NodeProcess, ports: Ports): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const clients = {
    TCP: await TcpClient.open(address),
    DOT: await TcpClient.open({ ...address, port: ports.DOT }, { tls: { rejectUnauthorized: false } }),
  };
  for (const [i, name] of NAMES.entries()) {
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.SOA]) {
      const sent = query(name, type, 256 * i + type);
      const received = await exchangeUdp(address, sent);
      exchanges.push({ protocol: 'UDP', sent: hex(sent), received: hex(received) });
      for (const [protocol, client] of Object.entries(clients)) {
        const count = client.messages.length + 1;
        client.socket.write(framed(sent));
        await until(() => client.messages.length === count, `an answer over ${protocol}`);
        exchanges.push({ protocol, sent: hex(sent), received: hex(client.messages.at(-1)) });
      }
      const response = await fetch(`http://127.0.0.1:${ports.DOH}/dns-query`, {
        method: 'POST',
        headers: { 'content-type': 'application/dns-message' },
        body: Buffer.from(sent),
      });
      const body = new Uint8Array(await response.arrayBuffer());
      exchanges.push({ protocol: 'DOH', sent: hex(sent), received: hex(body) });
    }
  }
  for (const client of Object.values(clients)) client.socket.destroy();
  return exchanges;
}

const metric = (node: NodeProcess, name: string) => fleet.metric(name, node);

/** Starts a reader that accepts the stream, and then reads nothing. Returns a function that closes its socket. */
async function startStalledReader(path: string): Promise<() => void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from('000000000000000400000001', 'hex')); // ACCEPT without content types
      socket.pause();
    });
  }).listen(path);
  await once(server, 'listening');
  return () => server.close();
}

describe.skipIf(missing.length > 0)(`dnstap${skipped}`, () => {
  it('sends frames whose messages are those that clients sent and received', async () => {
    const ports = { DOT: await freePort(), DOH: await freePort() };
    const { pem, key } = await makeCertificate({ names: ['ns1.example.net'] });
    const settings = (inside: string) => {
      writeFileSync(join(inside, 'cert'), pem);
      writeFileSync(join(inside, 'key'), key);
      return {
        DNSTAP: `unix:${join(inside, 'socket')}`,
        DOT_LISTEN: `127.0.0.1:${ports.DOT}`,
        DOH_PLAIN_LISTEN: `127.0.0.1:${ports.DOH}`,
        DNS_TLS_CERT: join(inside, 'cert'),
        DNS_TLS_KEY: join(inside, 'key'),
      };
    };
    await withNode(settings, async (node) => {
      const written = join(directory, 'frames');
      const content = ['-t', 'protobuf:dnstap.Dnstap'];
      const capture = spawn('fstrm_capture', [...content, '-u', join(directory, 'socket'), '-w', written]);
      try {
        await until(() => node.log().includes('DNSTAP: a reader is connected'), 'the reader is connected');
        const exchanges = await exchange(node, ports);
        const frames = 2 * exchanges.length;
        await until(
          async () => (await metric(node, 'zonefleet_dnstap_frames_total')) === frames,
          'all frames are sent',
        );
        await node.stop();
        capture.kill('SIGTERM');
        await once(capture, 'exit');
        const read = execFileSync('dnstap-read', ['-x', written], { encoding: 'utf8' });
        const frame = / (AQ|AR) 127\.0\.0\.1:\d+ (?:->|<-) 127\.0\.0\.1:(\d+) (\w+) \d+b .*\n([0-9A-F]+)/g;
        const found = [...read.matchAll(frame)].map(([, type, port, protocol, octets]) => ({
          type,
          port: Number(port),
          protocol,
          octets,
        }));
        // dnstap-read 9.18 prints DOT and DOH as UDP. The order is kept only among frames of one thread.
        const { port: plain } = node.address;
        for (const [transport, port] of Object.entries({ UDP: plain, TCP: plain, ...ports })) {
          const protocol = transport === 'TCP' ? 'TCP' : 'UDP';
          const expected = exchanges
            .filter((each) => each.protocol === transport)
            .flatMap(({ sent, received }) => [
              { type: 'AQ', port, protocol, octets: sent },
              { type: 'AR', port, protocol, octets: received },
            ]);
          expect(found.filter((each) => each.protocol === protocol && each.port === port)).toEqual(expected);
        }
        expect(found).toHaveLength(frames);
        const details = execFileSync('dnstap-read', ['-y', written], { encoding: 'utf8' });
        expect(details.match(/identity: node-0$/gm)).toHaveLength(frames);
        expect(details.match(/query_zone: example\.test\.$/gm)).toHaveLength((frames * 3) / NAMES.length);
      } finally {
        capture.kill('SIGKILL');
      }
    });
  });
});

it('drops and counts frames, and answers all queries, if the dnstap reader stalls', async () => {
  await withNode(
    (inside) => ({ DNSTAP: `unix:${join(inside, 'socket')}` }),
    async (node) => {
      const close = await startStalledReader(join(directory, 'socket'));
      await until(() => node.log().includes('DNSTAP: a reader is connected'), 'the reader is connected');
      const large = query('www.example.test.', TYPE.A, 1);
      const padded = Buffer.concat([large, Buffer.alloc(30_000)]); // octets after a message are ignored
      let asked = 0;
      await until(async () => {
        for (let i = 0; i < 50; i++) expect(await exchangeUdp(node.address, padded)).toBeDefined();
        asked += 50;
        return (await metric(node, 'zonefleet_dnstap_dropped_total{reason="queued"}')) > 0;
      }, 'frames are dropped');
      expect(await metric(node, 'zonefleet_queries_total{transport="udp",type="A",rcode="NOERROR"}')).toBe(
        asked,
      );
      close();
    },
  );
});

describe('the query log', () => {
  const lines = (file: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('has a line for each query, and loses and splits none if it is rotated', async () => {
    await withNode(
      (inside) => ({ QUERY_LOG: join(inside, 'log'), QUERY_LOG_CLIENT: 'full' }),
      async (node) => {
        const file = join(directory, 'log');
        let asked = 0;
        await until(() => existsSync(file), 'the log is opened');
        for (let rotation = 0; rotation < 5; rotation++) {
          // In total fewer than the 200 samples that a thread takes in 100 ms.
          for (let i = 0; i < 30; i++) {
            await exchangeUdp(node.address, query(`${asked}.example.test.`, TYPE.A, asked % 65_536));
            asked++;
            if (i !== 15) continue;
            renameSync(file, `${file}.${rotation}`);
            node.child.kill('SIGHUP');
          }
          await until(() => existsSync(file), 'the log is opened again');
        }
        const all = () => [0, 1, 2, 3, 4].flatMap((i) => lines(`${file}.${i}`)).concat(lines(file));
        await until(() => all().length >= asked, 'all lines are written');
        expect(all().map(({ name }) => name)).toEqual(
          Array.from({ length: asked }, (_, i) => `${i}.example.test.`),
        );
        expect(all()[0]).toEqual({
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          client: '127.0.0.1',
          name: '0.example.test.',
          type: 'A',
          rcode: 'NXDOMAIN',
          transport: 'udp',
          zone: 'example.test.',
          us: expect.any(Number),
        });
      },
    );
  });

  it.skipIf(!isInstalled('jq'))(
    `is written with node:dgram too, and can be read with the documented command${jqMissing}`,
    async () => {
      await withNode(
        (inside) => ({ QUERY_LOG: join(inside, 'queries.json'), DNS_IO: 'dgram' }),
        async (node) => {
          for (let i = 0; i < 3; i++) await exchangeUdp(node.address, query('www.example.test.', TYPE.A, i));
          const file = join(directory, 'queries.json');
          await until(() => existsSync(file) && lines(file).length === 3, 'all lines are written');
          const page = readFileSync(join(ROOT, 'docs/operating/observe-queries.md'), 'utf8');
          const [, command = ''] = /^ {4}(jq -r \.client .*)$/m.exec(page) ?? [];
          const printed = execFileSync('sh', ['-c', command], { cwd: directory, encoding: 'utf8' });
          expect(printed.trim()).toBe('3 127.0.0.0/24');
        },
      );
    },
  );

  it('drops and counts lines, and answers all queries, while the disk is full, and then continues', async () => {
    await withNode(
      (inside) => {
        symlinkSync('/dev/full', join(inside, 'log'));
        return { QUERY_LOG: join(inside, 'log') };
      },
      async (node) => {
        const file = join(directory, 'log');
        const dropped = () => metric(node, 'zonefleet_query_log_dropped_total{reason="unwritten"}');
        for (let i = 0; i < 20; i++)
          expect(await exchangeUdp(node.address, query('www.example.test.', TYPE.A, i))).toBeDefined();
        await until(async () => (await dropped()) === 20, 'the lines are counted');
        await until(() => node.log().includes('QUERY_LOG: the file cannot be written'), 'an error is logged');
        unlinkSync(file);
        node.child.kill('SIGHUP');
        await until(() => existsSync(file), 'the log is opened again');
        await exchangeUdp(node.address, query('www.example.test.', TYPE.A, 1));
        await until(() => lines(file).length === 1, 'a line is written');
        expect(lines(file)[0]).toMatchObject({ client: '127.0.0.0/24', rcode: 'NOERROR' });
      },
    );
  });
});
