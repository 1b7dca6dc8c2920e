// NSD and Knot on loopback with the same zones, without limits or additions to answers, and a way to send them many queries
// concurrently.

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../processes/free-port.ts';
import { startDaemon } from './daemon.ts';

export type PeerName = 'nsd' | 'knot';

export interface ZoneText {
  /** Presentation form, with the trailing dot. */
  readonly apex: string;
  readonly text: string;
}

export interface Peer {
  readonly name: PeerName;
  readonly port: number;
  /** Reloads one zone with a higher serial. Returns before it is served. */
  rewrite(zone: ZoneText): Promise<void>;
  stop(): Promise<void>;
}

export interface PeerAddress {
  readonly address: string;
  readonly port: number;
}

const START_TRIES = 4;
const LOOPBACK = '127.0.0.1';
const REPLY_TIMEOUT_MS = 1000;
const TRIES = 4;
const WINDOW = 48; // queries in flight, fewer than a default socket buffer can hold

const PROGRAMS: Readonly<Record<PeerName, string>> = { nsd: 'nsd', knot: 'knotd' };

export function isInstalled(program: string): boolean {
  const paths = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;
  return spawnSync('sh', ['-c', `command -v ${program}`], { env: { PATH: paths } }).status === 0;
}

/** Returns the peers installed on this machine, and a suffix for test names if one is missing. */
export function installedPeers(): { present: PeerName[]; missing: string } {
  const names: PeerName[] = ['nsd', 'knot'];
  const present = names.filter((name) => isInstalled(PROGRAMS[name]));
  const absent = names.filter((name) => !present.includes(name)).map((name) => PROGRAMS[name]);
  return { present, missing: absent.length === 0 ? '' : ` (skipped: needs ${absent.join(', ')})` };
}

/** Default: a free port of 127.0.0.1. */
export async function startPeer(
  name: PeerName,
  zones: readonly ZoneText[],
  listen?: readonly PeerAddress[],
): Promise<Peer> {
  for (let tries = START_TRIES; ; tries--) {
    try {
      return await startOnce(name, zones, listen ?? [{ address: LOOPBACK, port: await freePort() }]);
    } catch (error) {
      // Another process may take the port between this probe and the peer's bind.
      if (tries === 1 || !(error instanceof Error) || !/in use| ended: /.test(error.message)) throw error;
    }
  }
}

async function startOnce(
  name: PeerName,
  zones: readonly ZoneText[],
  listen: readonly PeerAddress[],
): Promise<Peer> {
  const place = listen[0] as PeerAddress;
  const fileOf = ({ apex }: ZoneText) => `${zones.findIndex((zone) => zone.apex === apex)}.zone`;
  const textOf = ({ apex, text }: ZoneText) => `$ORIGIN ${apex}\n${text}\n`;
  const configIn = name === 'nsd' ? nsdConfig : knotConfig;
  const { directory, child, stop } = await startDaemon({
    program: PROGRAMS[name],
    files: (inside) => ({
      ...Object.fromEntries(zones.map((zone) => [fileOf(zone), textOf(zone)])),
      config: configIn(
        inside,
        listen,
        zones.map((zone) => ({ apex: zone.apex, file: join(inside, fileOf(zone)) })),
      ),
    }),
    args: (inside) => [...(name === 'nsd' ? ['-d'] : []), '-c', join(inside, 'config')],
    isReady: () => servesAll(place, zones),
  });
  return {
    name,
    port: place.port,
    async rewrite(zone) {
      await writeFile(join(directory, fileOf(zone)), textOf(zone));
      child.kill('SIGHUP');
    },
    stop,
  };
}

interface ZoneFilePlace {
  readonly apex: string;
  readonly file: string;
}

function nsdConfig(
  directory: string,
  listen: readonly PeerAddress[],
  zones: readonly ZoneFilePlace[],
): string {
  const server = [
    'server:',
    ...listen.map(({ address, port }) => ` ip-address: ${address}@${port}`),
    ' username: ""',
    ' server-count: 1',
    ` zonesdir: "${directory}"`,
    ' database: ""',
    ` pidfile: "${directory}/nsd.pid"`,
    ` xfrdfile: "${directory}/xfrd.state"`,
    ` zonelistfile: "${directory}/zone.list"`,
    ` xfrdir: "${directory}"`,
    ' rrl-ratelimit: 0',
    ' minimal-responses: yes',
    ' ipv4-edns-size: 1232',
    ' hide-version: yes',
    ' answer-cookie: no',
    'remote-control:',
    ' control-enable: no',
  ];
  return [
    ...server,
    ...zones.map((zone) => `zone:\n name: "${zone.apex}"\n zonefile: "${zone.file}"`),
    '',
  ].join('\n');
}

function knotConfig(
  directory: string,
  listen: readonly PeerAddress[],
  zones: readonly ZoneFilePlace[],
): string {
  const server = [
    'server:',
    ...listen.map(({ address, port }) => `  listen: ${address}@${port}`),
    `  rundir: ${directory}`,
    '  udp-workers: 1',
    '  tcp-workers: 1',
    '  background-workers: 1',
    '  udp-max-payload: 1232',
    'database:',
    `  storage: ${directory}`,
    'log:',
    '  - target: stderr',
    '    any: info',
    'template:',
    '  - id: default',
    `    storage: ${directory}`,
    '    zonefile-sync: -1',
    '    zonefile-load: whole',
    '    journal-content: none',
    '    semantic-checks: off',
    'zone:',
  ];
  return [...server, ...zones.map((zone) => `  - domain: ${zone.apex}\n    file: ${zone.file}`), ''].join(
    '\n',
  );
}

/** Returns true if the SOA of every zone is answered. */
async function servesAll({ address, port }: PeerAddress, zones: readonly ZoneText[]): Promise<boolean> {
  const queries = zones.map((zone) => soaQuery(zone.apex));
  const replies = await askMany(port, queries, { address, tries: 1, timeoutMs: 300 });
  return replies.every((reply) => reply !== undefined && ((reply[3] as number) & 15) === 0);
}

function soaQuery(apex: string): Uint8Array {
  const labels = apex.split('.').filter((label) => label !== '');
  const name = labels.map((label) => String.fromCharCode(label.length) + label).join('');
  return Buffer.from(`\0\0\0\0\0\x01\0\0\0\0\0\0${name}\0\0\x06\0\x01`, 'latin1');
}

/**
 * Sends every query over UDP with a different id. Returns the replies in the order of the queries, each with the query's
 * id, or undefined if none arrived. Many queries are in flight at a time.
 */
export async function askMany(
  port: number,
  queries: readonly Uint8Array[],
  options: { address?: string; tries?: number; timeoutMs?: number } = {},
): Promise<(Uint8Array | undefined)[]> {
  const { address = LOOPBACK, tries = TRIES } = options;
  const timeoutMs = options.timeoutMs ?? REPLY_TIMEOUT_MS;
  const replies: (Uint8Array | undefined)[] = new Array(queries.length).fill(undefined);
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  const waiting = new Map<number, (reply: Uint8Array) => void>();
  socket.on('message', (reply) => waiting.get(reply.readUInt16BE(0))?.(reply));
  socket.on('error', () => {}); // the connection is refused while a server starts; the query is repeated
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  let next = 0;
  let id = 0;
  const askOne = async (query: Uint8Array): Promise<Uint8Array | undefined> => {
    for (let i = 0; i < tries; i++) {
      id = (id + 1) & 0xffff;
      const mine = id;
      const packet = Buffer.from(query);
      packet.writeUInt16BE(mine, 0);
      const reply = await new Promise<Uint8Array | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), timeoutMs);
        waiting.set(mine, (bytes) => {
          clearTimeout(timer);
          resolve(bytes);
        });
        socket.send(packet, port, address);
      });
      waiting.delete(mine);
      if (reply !== undefined) return withIdOf(query, reply);
    }
    return undefined;
  };
  const lane = async () => {
    while (next < queries.length) {
      const index = next++;
      replies[index] = await askOne(queries[index] as Uint8Array);
    }
  };
  await Promise.all(Array.from({ length: Math.min(WINDOW, queries.length) }, lane));
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return replies;
}

function withIdOf(query: Uint8Array, reply: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(reply);
  copy[0] = query[0] as number;
  copy[1] = query[1] as number;
  return copy;
}

/** Sends one query over TCP (RFC 1035 §4.2.2). */
export function askTcp(port: number, query: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer over TCP')));
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) return;
      resolve(Uint8Array.from(bytes.subarray(2, 2 + bytes.readUInt16BE(0))));
      socket.destroy();
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  });
}
