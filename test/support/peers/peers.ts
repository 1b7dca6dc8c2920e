// NSD and Knot on loopback, with our zones and nothing that limits or adds to answers; and a way to ask them many
// questions at once.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type PeerName = 'nsd' | 'knot';

export interface ZoneText {
  /** Presentation form, with the final dot. */
  readonly apex: string;
  readonly text: string;
}

export interface Peer {
  readonly name: PeerName;
  readonly port: number;
  /** Reads one zone anew, with a higher serial; returns before it is served. */
  rewrite(zone: ZoneText): Promise<void>;
  /** It takes questions and answers none, until it is thawed. Not while it reads a zone: NSD may then never serve it. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export interface PeerAddress {
  readonly address: string;
  readonly port: number;
}

const START_TIMEOUT_MS = 120_000;
const START_TRIES = 4;
const LOOPBACK = '127.0.0.1';
const REPLY_TIMEOUT_MS = 1000;
const TRIES = 4;
const WINDOW = 48; // questions in flight: a default socket buffer has room for more

const PROGRAMS: Readonly<Record<PeerName, string>> = { nsd: 'nsd', knot: 'knotd' };

export function isInstalled(program: string): boolean {
  const paths = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;
  return spawnSync('sh', ['-c', `command -v ${program}`], { env: { PATH: paths } }).status === 0;
}

/** The peers that this machine has, and the words for a test's name when one is missing. */
export function installedPeers(): { present: PeerName[]; missing: string } {
  const names: PeerName[] = ['nsd', 'knot'];
  const present = names.filter((name) => isInstalled(PROGRAMS[name]));
  const absent = names.filter((name) => !present.includes(name)).map((name) => PROGRAMS[name]);
  return { present, missing: absent.length === 0 ? '' : ` (skipped: needs ${absent.join(', ')})` };
}

/** Default: on a free port of 127.0.0.1. */
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
      if (tries === 1 || !(error instanceof Error) || !/in use|ended with/.test(error.message)) throw error;
    }
  }
}

async function startOnce(
  name: PeerName,
  zones: readonly ZoneText[],
  listen: readonly PeerAddress[],
): Promise<Peer> {
  const directory = await mkdtemp(join(realpathSync(tmpdir()), `zonefleet-${name}-`));
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'run'));
  const place = listen[0] as PeerAddress;
  const files = zones.map(({ apex }, index) => ({ apex, file: join(directory, `${index}.zone`) }));
  const write = async ({ apex, text }: ZoneText) => {
    const file = files.find((one) => one.apex === apex)?.file as string;
    await writeFile(file, `$ORIGIN ${apex}\n${text}\n`);
  };
  await Promise.all(zones.map(write));
  const config = join(directory, `${name}.conf`);
  await writeFile(
    config,
    name === 'nsd' ? nsdConfig(directory, listen, files) : knotConfig(directory, listen, files),
  );
  const child = spawn(PROGRAMS[name], name === 'nsd' ? ['-d', '-c', config] : ['-c', config], {
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: directory,
  });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  let isFrozen = false;
  const freeze = (wanted: boolean) => {
    if (wanted !== isFrozen) signalAll(directory, wanted ? 'SIGSTOP' : 'SIGCONT');
    isFrozen = wanted;
  };
  const stop = async () => {
    freeze(false);
    await endProcess(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await untilServed(name, child, place, zones, () => log);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name,
    port: place.port,
    async rewrite(zone) {
      await write(zone);
      child.kill('SIGHUP');
    },
    freeze: () => freeze(true),
    thaw: () => freeze(false),
    stop,
  };
}

/** All processes of a peer, told by where they work: NSD's leave their parent when they read zones anew. */
function signalAll(directory: string, signal: NodeJS.Signals): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) === directory) process.kill(Number(pid), signal);
    } catch {
      // it has ended, or belongs to another user
    }
  }
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
    `  rundir: ${directory}/run`,
    '  udp-workers: 1',
    '  tcp-workers: 1',
    '  background-workers: 1',
    '  udp-max-payload: 1232',
    'database:',
    `  storage: ${directory}/run`,
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

/** Waits until the last zone's SOA is answered; all zones are loaded, or the log says what is wrong with one. */
async function untilServed(
  name: PeerName,
  child: ChildProcess,
  { address, port }: PeerAddress,
  zones: readonly ZoneText[],
  log: () => string,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  const queries = zones.map((zone) => soaQuery(zone.apex));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${log()}`);
    const replies = await askMany(port, queries, { address, tries: 1, timeoutMs: 300 });
    const isReady = replies.every((reply) => reply !== undefined && ((reply[3] as number) & 15) === 0);
    if (isReady) return;
    if (Date.now() > deadline) throw new Error(`${name} does not serve all zones:\n${log().slice(-4000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function soaQuery(apex: string): Uint8Array {
  const labels = apex.split('.').filter((label) => label !== '');
  const name = labels.map((label) => String.fromCharCode(label.length) + label).join('');
  return Buffer.from(`\0\0\0\0\0\x01\0\0\0\0\0\0${name}\0\0\x06\0\x01`, 'latin1');
}

/** A port of 127.0.0.1 that is free for TCP and UDP. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const socket = createSocket('udp4');
    const isFree = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise<void>((resolve) => server.close(() => resolve()));
    socket.close();
    if (isFree) return port;
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(killer);
}

/**
 * Sends every query over UDP with an id of its own and gives the replies in the queries' order (undefined: none came),
 * with the query's id put back. Many are in flight at a time.
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
  socket.on('error', () => {}); // connection refused while a server starts: the query is repeated
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

/** One question over TCP (RFC 1035 §4.2.2). */
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
