// Planned restarts of a node that is queried continuously over UDP, TCP and TLS: every query must be answered.

import { execFile } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { queryFor } from '../support/answer/queries.ts';
import { framed, TcpClient } from '../support/answer/sockets.ts';
import { makeCertificate } from '../support/certificates/make-certificate.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { smallZone } from '../support/processes/follow.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { until } from '../support/tests/until.ts';

const QUERY = queryFor({ name: parseName('a.example.'), type: TYPE.SOA, udpPayloadSize: undefined });
const RESTARTS = 3;

let database: TestDatabase;
let directory: string;
let node: NodeProcess;
let dot: { address: string; port: number };
/** Returns the answering process, which each restart replaces. */
let pid: number;

beforeAll(async () => {
  database = await createDatabase();
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-node-restart-'));
  await saveZones(database.db, [smallZone('a.example.', 1)], { source: 'test' });
  const { pem, key } = await makeCertificate({ names: ['ns1.example.net'] });
  const tls = { DNS_TLS_CERT: join(directory, 'cert'), DNS_TLS_KEY: join(directory, 'key') };
  writeFileSync(tls.DNS_TLS_CERT, pem);
  writeFileSync(tls.DNS_TLS_KEY, key);
  chmodSync(directory, 0o755); // the successor reads the files without root's rights
  dot = { address: '127.0.0.1', port: await freePort() };
  node = await startNode('ns1', {
    DATABASE_URL: database.url,
    DATA_DIR: directory,
    RRL: 'off',
    DOT_LISTEN: `127.0.0.1:${dot.port}`,
    ...tls,
  });
  pid = node.child.pid as number;
});

afterAll(async () => {
  if (pid !== node?.child.pid) process.kill(pid, 'SIGKILL');
  await node?.stop();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

/** Queries with unique ids, and the serials of the answers. */
class Probe {
  readonly serials = new Set<number>();
  sent = 0;
  #open = new Set<number>();
  /** Number of TCP connections that ended. */
  ends = 0;
  readonly #udp: UdpSocket = createSocket('udp4');
  readonly #tcp: Socket;
  readonly #timer: NodeJS.Timeout;
  /** Second part of the last query over TCP. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(port: number) {
    this.#udp.on('message', (answer) => this.#receive(answer));
    this.#udp.on('error', () => {});
    this.#tcp = connect(port, '127.0.0.1').on('close', () => this.ends++);
    this.#tcp.on('error', () => {});
    let rest = Buffer.alloc(0);
    this.#tcp.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
        const end = 2 + rest.readUInt16BE();
        this.#receive(rest.subarray(2, end));
        rest = rest.subarray(end);
      }
    });
    this.#timer = setInterval(() => {
      this.#udp.send(this.#next(), port, '127.0.0.1');
      // Sent in two parts, so that a restart occurs within a query.
      this.#tcp.write(this.#tail);
      const query = this.#next();
      this.#tcp.write(Buffer.concat([Buffer.of(query.length >> 8, query.length), query.subarray(0, 10)]));
      this.#tail = query.subarray(10);
    }, 2);
  }

  get lost(): number {
    return this.#open.size;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#tcp.write(this.#tail);
    await until(() => this.lost === 0, 'the last answers').catch(() => {});
    this.#udp.close();
    this.#tcp.destroy();
  }

  #next(): Buffer {
    const query = Buffer.from(QUERY);
    const id = ++this.sent & 0xffff;
    query.writeUInt16BE(id);
    this.#open.add(id);
    return query;
  }

  #receive(answer: Buffer): void {
    this.#open.delete(answer.readUInt16BE());
    this.serials.add(answer.readUInt32BE(answer.length - 20));
  }
}

const openTls = () => TcpClient.open(dot, { tls: { rejectUnauthorized: false } });

async function askTls(client: TcpClient): Promise<void> {
  client.socket.write(framed(QUERY));
  await client.received(client.messages.length + 1);
}

/** Opens one connection over TLS after another, with one query each. Returns their number. */
async function probeTls(isOver: () => boolean): Promise<number> {
  let answered = 0;
  for (; !isOver(); answered++) {
    const client = await openTls();
    await askTls(client);
    client.close();
  }
  return answered;
}

async function restart(): Promise<void> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['src/cli/zonefleet.mjs', 'node', 'restart', '--json'],
    { env: { ...process.env, DATA_DIR: directory, DATABASE_URL: database.url } },
  );
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ node: 'ns1', kind: 'restarted', before: pid });
  pid = outcome.pid;
}

test('a restarted node answers every query, and serves later edits', async () => {
  const probe = new Probe(node.address.port);
  let isOver = false;
  const overTls = probeTls(() => isOver);
  try {
    for (let serial = 2; serial <= 1 + RESTARTS; serial++) {
      const open = await openTls();
      let isRestarted = false;
      const restarted = restart().finally(() => {
        isRestarted = true;
      });
      await saveZones(database.db, [smallZone('a.example.', serial)], { source: 'test' });
      for (; !isRestarted; await pause(100)) await askTls(open);
      await restarted;
      await askTls(open); // the former process still serves its connections over TLS
      open.close();
      await until(() => probe.serials.has(serial), `serial ${serial}`);
      await pause(100); // an older answer of the first process would arrive now
    }
  } finally {
    isOver = true;
    await probe.stop();
  }
  expect({ lost: probe.lost, ends: probe.ends }).toEqual({ lost: 0, ends: 0 });
  expect(await overTls).toBeGreaterThan(20);
  expect(probe.sent).toBeGreaterThan(1000);
  expect(node.log()).not.toContain('"level":50');
  const ready = await fetch(`${node.metricsUrl}/readyz`);
  expect(await ready.text()).toBe('ready\n');
});
