// Debian's pebble, a small test authority, behind a proxy with the faults of networks and authorities, and a DNS server for
// it that answers from a database.

import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as packet from 'dns-packet';
import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';
import { freePort } from '../processes/free-port.ts';
import { makeCertificate } from './make-certificate.ts';

export interface Pebble {
  readonly port: number;
  readonly directory: string;
  /** PEM of the roots that its directory URL is verified with. */
  readonly roots: string;
  stop(): Promise<void>;
}

interface PebbleOptions {
  /** Port for HTTP challenges. */
  readonly httpPort?: number;
  /** If set, accounts need one of these external account bindings, with keys in base64url. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** If false, each order needs new challenges. */
  readonly reusesAuthorizations?: boolean;
  /** If false, no nonce is rejected: some clients repeat a request only once. */
  readonly rejectsNonces?: boolean;
}

/** By default, half of the nonces are rejected. */
export async function startPebble(
  dnsServer: string,
  { httpPort = 5002, bindings, reusesAuthorizations = true, rejectsNonces = true }: PebbleOptions = {},
): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-pebble-'));
  const server = await makeCertificate({ names: ['localhost'] });
  writeFileSync(join(folder, 'cert.pem'), server.pem);
  writeFileSync(join(folder, 'key.pem'), server.key);
  const port = await freePort();
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${await freePort()}`,
    certificate: join(folder, 'cert.pem'),
    privateKey: join(folder, 'key.pem'),
    httpPort,
    tlsPort: 5001,
    ocspResponderURL: '',
    externalAccountBindingRequired: bindings !== undefined,
    ...(bindings !== undefined && { externalAccountMACKeys: bindings }),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ pebble }));
  const child = spawn('pebble', ['-config', join(folder, 'config.json'), '-dnsserver', dnsServer], {
    env: {
      ...process.env,
      PEBBLE_WFE_NONCEREJECT: rejectsNonces ? '50' : '0',
      PEBBLE_VA_NOSLEEP: '1',
      ...(!reusesAuthorizations && { PEBBLE_AUTHZREUSE: '0' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await untilSaid(child, /Listening on/);
  return {
    port,
    directory: `https://localhost:${port}/dir`,
    roots: server.pem,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

async function untilSaid(child: ChildProcess, words: RegExp): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer) => {
      if (said.length < 100_000) said += chunk.toString();
      if (words.test(said)) resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`pebble ended (${code}): ${said}`)));
    child.once('error', reject);
  });
}

export interface FaultyProxy {
  readonly directory: string;
  readonly roots: string;
  /** Number of requests by outcome. */
  readonly counts: Record<'passed' | 'stalled' | 'reset' | 'failed' | 'limited', number>;
  stop(): Promise<void>;
}

/** One or two of ten requests fail: stalled, reset, answered 500, or answered 429 with Retry-After. */
export async function startFaultyProxy(pebble: Pebble, random: () => number): Promise<FaultyProxy> {
  const server = await makeCertificate({ names: ['localhost'] });
  const counts = { passed: 0, stalled: 0, reset: 0, failed: 0, limited: 0 };
  const listening = createServer({ cert: server.pem, key: server.key }, (incoming, outgoing) => {
    const draw = random();
    if (draw < 0.01) {
      counts.stalled++;
      return; // no answer ever comes
    }
    if (draw < 0.07) {
      counts.reset++;
      incoming.socket.destroy();
      return;
    }
    if (draw < 0.13) {
      counts.failed++;
      outgoing.writeHead(500).end('no');
      return;
    }
    if (draw < 0.15) {
      counts.limited++;
      outgoing.writeHead(429, { 'Retry-After': '1' }).end();
      return;
    }
    counts.passed++;
    const { method, url, headers } = incoming;
    const passed = request(
      { host: '127.0.0.1', port: pebble.port, method, path: url, headers, rejectUnauthorized: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  return {
    directory: `https://localhost:${port}/dir`,
    roots: server.pem,
    counts,
    async stop() {
      listening.closeAllConnections();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
}

export interface DatabaseDns {
  readonly address: string;
  close(): void;
}

/**
 * Answers TXT from the published data in the database, like a node without lag. Every name has the address of the tests'
 * edge.
 */
export async function serveDatabase(db: Database): Promise<DatabaseDns> {
  const socket = createSocket('udp4');
  socket.on('message', async (message, from) => {
    const { id = 0, questions = [] } = packet.decode(message);
    const [question] = questions;
    const name = `${question?.name.toLowerCase()}.`;
    const rows =
      question?.type !== 'TXT'
        ? []
        : await sql<{ rdata: Buffer }>`
            select r.rdata from zone_records r join zones z on z.id = r.zone_id
            where r.owner = ${name} and r.type = 16 and not r.removed and z.deleted_at is null`
            .execute(db)
            .then((found) => found.rows)
            .catch(() => []);
    const answer = packet.encode({
      type: 'response',
      id,
      flags: packet.AUTHORITATIVE_ANSWER,
      questions,
      answers:
        question?.type === 'A'
          ? [{ type: 'A' as const, name: question.name, ttl: 0, data: '127.0.0.1' }]
          : rows.map(({ rdata }) => ({
              type: 'TXT' as const,
              name: question?.name ?? '',
              ttl: 0,
              data: [rdata.subarray(1)],
            })),
    });
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}
