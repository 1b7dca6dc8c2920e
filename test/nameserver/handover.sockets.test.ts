// A process passes its sockets to its replacement. Both sides run in this process, because all calls are asynchronous.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ControlSocket,
  listenControl,
  type Parcel,
} from '../../src/nameserver/handover/control-socket.ts';
import { descriptorOf, findInherited } from '../../src/nameserver/handover/inherited.ts';
import type { OpenSockets } from '../../src/nameserver/handover/pack-sockets.ts';
import { type Predecessor, takeOver } from '../../src/nameserver/handover/take-over.ts';
import { openLibc } from '../../src/nameserver/threads/libc.ts';
import { openUdpSockets } from '../../src/nameserver/udp/udp-sockets.ts';
import { CONTROL_FILE, withControlPath } from '../../src/process/control-path.ts';
import { RESTART_LIMIT_MS } from '../../src/process/restart-limit.ts';
import { bundle } from '../support/processes/bundle.ts';
import { collectingLog } from '../support/processes/follow.ts';
import { until } from '../support/tests/until.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const libc = await openLibc();

let root: string;
let directory: string;
let log: ReturnType<typeof collectingLog>;
/** The calls of a predecessor, in order. */
let calls: string[];
let kills: number;
let failed: (reason: string) => void;
let cleanUp: (() => unknown)[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zf-handover-'));
  directory = root;
  log = collectingLog();
  calls = [];
  kills = 0;
  cleanUp = [];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const step of cleanUp.reverse()) await step();
  rmSync(root, { recursive: true });
});

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => server.close());
  return server;
}

interface PredecessorOptions {
  sockets?: () => OpenSockets;
  connections?: Parcel[];
  startSuccessor?: () => void;
}

/** Listens like a process that can be replaced. */
async function predecessor(options: PredecessorOptions = {}): Promise<ControlSocket> {
  const own = calls; // an earlier one may still end
  const control = await listenControl({
    directory,
    libc,
    log,
    sockets: options.sockets ?? (() => ({ addresses: [], health: 0 })),
    startSuccessor: (fail) => {
      own.push('start');
      failed = fail;
      options.startSuccessor?.();
      return () => kills++;
    },
    async *release() {
      own.push('release');
      yield* options.connections ?? [];
      own.push('released');
      await control.close();
    },
    end: () => own.push('end'),
  });
  cleanUp.push(control.close);
  return control;
}

/** Connects like the command line. */
async function client(): Promise<{ socket: Socket; send: (text: string) => void; reply: () => string }> {
  const socket = await withControlPath(directory, (path) => connect(path));
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  cleanUp.push(() => socket.destroy());
  return { socket, send: (line) => void socket.write(line), reply: () => text };
}

async function restarting() {
  const one = await client();
  one.send('{"ask":"restart"}\n');
  return one;
}

const ended = ({ socket }: { socket: Socket }) => until(() => socket.destroyed, 'the connection is ended');
const outcome = async (one: Awaited<ReturnType<typeof client>>) => {
  await ended(one);
  return JSON.parse(one.reply());
};

/** Releases the predecessor without adopting connections. */
const release = (old: Predecessor) =>
  old.release((descriptor) => {
    libc.close(descriptor);
  });

const earlyEnd = (how: string) => `the new process ended before it was ready (${how}); its log says why`;
const fail = (message: string) => {
  throw new Error(message);
};

const RESTARTED = { kind: 'restarted', pid: process.pid, before: process.pid };
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe('a successor', () => {
  it('gets copies of the sockets that work after the predecessor has closed its own', async () => {
    const udp = openUdpSockets(libc, [LOOPBACK], 2);
    const tcp = await listening(createServer());
    const health = await listening(createServer());
    const listen = udp.addresses[0]!;
    await predecessor({
      sockets: () => ({
        addresses: [{ listen, udp: udp.share()[0]!, tcp: descriptorOf(tcp) }],
        health: descriptorOf(health),
      }),
    });
    const old = await takeOver(directory);
    const inherited = findInherited(old.addresses, listen)!;
    expect(inherited).toMatchObject({ listen, udp: [expect.any(Number), expect.any(Number)] });
    const wanted = [tcp.address(), health.address()];
    await release(old);
    udp.close();
    tcp.close();
    health.close();

    for (const [i, fd] of [inherited.tcp, old.health].entries()) {
      const server = createServer((socket) => socket.end('taken over'));
      server.listen({ fd });
      await once(server, 'listening');
      cleanUp.push(() => server.close());
      expect(server.address()).toEqual(wanted[i]);
      const { port } = server.address() as { port: number };
      const socket = connect(port, '127.0.0.1');
      const [text] = await once(socket.setEncoding('utf8'), 'data');
      expect(text).toBe('taken over');
      socket.destroy();
    }
    // A packet to the port arrives at one of the two UDP sockets.
    const again = openUdpSockets(libc, [LOOPBACK], 1, old.addresses);
    cleanUp.push(again.close);
    expect(again.addresses).toEqual([listen]);
    expect(again.ofThread.map((sockets) => sockets.length)).toEqual([2]);
    await expectPacket(again.share()[0]!, listen.port);
  });

  it.each([
    ['many threads', 3, 100, '127.0.0.1'],
    ['many long addresses', 600, 1, `${'2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'}%interface-names`],
  ])('gets more sockets than the kernel can pass in one message: %s', async (_, count, threads, address) => {
    const fd = descriptorOf(await listening(createServer()));
    const listens = Array.from({ length: count }, (_, i) => ({ address, port: 65_535 - i }));
    const addresses = listens.map((listen) => ({ listen, udp: Array(threads).fill(fd), tcp: fd }));
    await predecessor({ sockets: () => ({ addresses, health: fd }) });
    const old = await takeOver(directory);
    expect(old.addresses.map(({ listen }) => listen)).toEqual(listens);
    const copies = [...old.addresses.flatMap(({ udp, tcp }) => [...udp, tcp]), old.health];
    expect(new Set(copies).size).toBe(count * (threads + 1) + 1);
    expect(copies.filter((copy) => libc.close(copy) !== 0)).toEqual([]);
    await release(old);
  });

  it('receives the TCP connections in parcels, each with its unanswered input', async () => {
    const server = await listening(createServer());
    const { port } = server.address() as { port: number };
    const accepted: Socket[] = [];
    server.on('connection', (socket) => accepted.push(socket.on('error', () => {})));
    const peers = [0, 1, 2].map(() => connect(port, '127.0.0.1'));
    await until(() => accepted.length === 3, 'three connections');
    cleanUp.push(() => [...peers, ...accepted].map((socket) => socket.destroy()));
    const parcel = (...of: number[]) => ({
      text: { inputs: of.map((i) => Buffer.from(`input ${i}`).toString('base64')) },
      descriptors: of.map((i) => descriptorOf(accepted[i]!)),
    });
    await predecessor({ connections: [parcel(0, 1), parcel(2)] });
    const old = await takeOver(directory);
    const adopted: string[] = [];
    await old.release((fd, input) => {
      adopted.push(input.toString());
      new Socket({ fd }).end('from the successor');
    });
    expect(adopted).toEqual(['input 0', 'input 1', 'input 2']);
    expect(calls).toEqual(['release', 'released']);
    for (const peer of peers) {
      const [text] = await once(peer.setEncoding('utf8'), 'data');
      expect(text).toBe('from the successor');
    }
    await until(() => calls.includes('end'), 'the predecessor ends');
  });

  it('continues alone if the predecessor disappears during the release', async () => {
    const tooMany = { text: { inputs: [] }, descriptors: Array(254).fill(1) };
    const control = await predecessor({ connections: [tooMany] });
    const old = await takeOver(directory);
    await expect(takeOver(directory)).rejects.toThrow('has ended'); // only one successor gets the sockets
    await release(old); // the predecessor fails, and disconnects
    expect(calls).not.toContain('released');
    await control.close();
    await expect(takeOver(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

/** Sends a packet to the port, and waits until one of the sockets has it. */
async function expectPacket(descriptors: readonly number[], port: number): Promise<void> {
  const POLLIN = 1;
  const waiting = new Int32Array(descriptors.flatMap((descriptor) => [descriptor, POLLIN]));
  const sender = createSocket('udp4');
  sender.send('packet', port, '127.0.0.1');
  const address = libc.addressOf(new Uint8Array(waiting.buffer));
  await until(() => libc.poll(address, descriptors.length, 0) === 1, 'a packet');
  sender.close();
}

describe('a request for a restart', () => {
  it('is answered when the successor requests the release, and other requests share the restart', async () => {
    await predecessor();
    const [first, second] = [await restarting(), await restarting()];
    await until(() => calls.length === 1, 'the successor is started');
    const old = await takeOver(directory);
    expect([first.reply(), second.reply()]).toEqual(['', '']);
    const late = await client();
    await release(old);
    late.send('{"ask":"restart"}\n'); // no third process is started
    expect([await outcome(first), await outcome(second), await outcome(late)]).toEqual(
      Array(3).fill(RESTARTED),
    );
    await until(() => calls.includes('end'), 'the end');
    expect(calls).toEqual(['start', 'release', 'released', 'end']);
  });

  it.each([
    ['reports', 'DNS_LISTEN: in use', () => failed('DNS_LISTEN: in use')],
    ['throws', earlyEnd('spawn ENOMEM'), () => fail('spawn ENOMEM')],
  ])('fails with the reason if the start %s one, and the next request starts another', async (_, reason, start) => {
    await predecessor({ startSuccessor: start });
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(await outcome(await restarting())).toEqual({ kind: 'failed', reason });
      expect(calls).toEqual(Array(attempt).fill('start'));
    }
  });

  it('fails if the successor disconnects before the release, with the reason from its parent if there is one', async () => {
    await predecessor();
    for (const reason of [earlyEnd('it disconnected'), 'RUN_AS: no such user']) {
      const waiting = await restarting();
      await until(() => calls.at(-1) === 'start', 'the successor is started');
      const successor = await client();
      successor.send('{"ask":"sockets"}\n');
      await until(() => successor.reply() !== '', 'it has the sockets');
      successor.socket.destroy();
      if (reason.startsWith('RUN_AS')) failed(reason);
      expect(await outcome(waiting)).toEqual({ kind: 'failed', reason });
      calls.push('failed');
    }
    expect(calls).toEqual(['start', 'failed', 'start', 'failed']);
  });

  it.each([
    'before it connects',
    'with the sockets',
  ])('fails if the successor hangs %s: the successor is killed, and the next request starts another', async (when) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await predecessor();
    const waiting = await restarting();
    await until(() => calls.length === 1, 'the successor is started');
    const hanging = when === 'with the sockets' ? await takeOver(directory) : undefined;
    vi.advanceTimersByTime(RESTART_LIMIT_MS);
    expect(kills).toBe(0); // `npm start` also has a limit, which applies first
    vi.advanceTimersByTime(10_000);
    expect(kills).toBe(1);
    const reason = expect.stringMatching(/^the new process was not ready within 10 minutes and was killed/);
    expect(await outcome(waiting)).toEqual({ kind: 'failed', reason });
    if (hanging !== undefined) await release(hanging); // too late
    expect(calls).toEqual(['start']);
    const next = await restarting();
    await until(() => calls.length === 2, 'the next one is started');
    await release(await takeOver(directory));
    expect(await outcome(next)).toEqual(RESTARTED);
    vi.advanceTimersByTime(2 * RESTART_LIMIT_MS);
    expect(kills).toBe(1);
  });

  it('ends the predecessor in time if the successor hangs after the release', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await predecessor({ connections: [{ text: { inputs: [] }, descriptors: [] }] });
    const successor = await client();
    successor.send('{"ask":"sockets"}\n{"ask":"release","pid":1}\n');
    await until(() => successor.reply().includes('inputs'), 'the release');
    expect(calls).toEqual(['release']);
    vi.advanceTimersByTime(2 * RESTART_LIMIT_MS);
    expect(calls).toEqual(['release', 'end']);
  });

  it('does not fail if an earlier successor ends', async () => {
    await predecessor();
    const first = await restarting();
    await until(() => calls.length === 1, 'the first is started');
    const failFirst = failed;
    failFirst('it crashed');
    expect(await outcome(first)).toMatchObject({ reason: 'it crashed' });
    const second = await restarting();
    await until(() => calls.length === 2, 'the second is started');
    failFirst('it crashed again');
    await release(await takeOver(directory));
    expect(await outcome(second)).toEqual(RESTARTED);
  });

  it('continues if its client disconnects', async () => {
    await predecessor();
    const first = await restarting();
    await until(() => calls.length === 1, 'the successor is started');
    first.socket.destroy();
    const second = await restarting();
    await release(await takeOver(directory));
    expect(await outcome(second)).toEqual(RESTARTED);
  });
});

describe('the control socket', () => {
  const file = () => join(directory, CONTROL_FILE);

  it('has mode 0600, replaces a leftover file, and removes its own', async () => {
    const umask = process.umask();
    for (let round = 0; round < 2; round++) {
      const control = await predecessor();
      expect(mode(file())).toBe('600');
      expect(process.umask()).toBe(umask);
      if (round === 0) continue; // left over
      await control.close();
      expect(existsSync(file())).toBe(false);
    }
  });

  it('works in a directory whose path is longer than the kernel allows', async () => {
    directory = join(directory, 'd'.repeat(120), 'e'.repeat(120));
    mkdirSync(directory, { recursive: true });
    await predecessor();
    expect(mode(file())).toBe('600');
    const waiting = await restarting();
    await release(await takeOver(directory));
    expect(await outcome(waiting)).toEqual(RESTARTED);
    expect(existsSync(file())).toBe(false);
  });

  it.each([
    'short',
    'd'.repeat(150),
  ])('of a successor remains when the predecessor ends, in %s', async (name) => {
    directory = join(directory, name);
    mkdirSync(directory);
    const first = await predecessor();
    await release(await takeOver(directory));
    expect(existsSync(file())).toBe(false);
    await predecessor(); // the successor, which owns this socket
    await first.close();
    await first.close();
    expect(existsSync(file())).toBe(true);
    await release(await takeOver(directory));
  });

  it.each([
    ['no JSON', 'restart\n'],
    ['null', 'null\n'],
    ['an unknown request', '{"ask":"everything"}\n'],
    ['a release without the sockets', '{"ask":"release","pid":1}\n'],
    ['connections without the sockets', '{"ask":"connections"}\n'],
    ['a long line', `{"ask":"${'x'.repeat(2000)}`],
    ['many lines', 'x\n'.repeat(30_000)],
    ['many requests', '{"ask":"restart"}\n'.repeat(30_000)],
    ['many octets without a line', 'x'.repeat(1 << 20)],
  ])('ends a connection that sends %s, and serves others', async (_, text) => {
    await predecessor();
    const bad = await client();
    bad.send(text);
    await ended(bad);
    expect(bad.reply()).toBe('');
    expect(log.lines.length).toBeLessThan(2);
    const waiting = await restarting();
    await release(await takeOver(directory));
    expect(await outcome(waiting)).toEqual(RESTARTED);
    expect(calls.filter((call) => call === 'start')).toHaveLength(1);
  });

  it('starts one successor for many requests, on one or several connections', async () => {
    await predecessor();
    const many = await Promise.all(Array.from({ length: 200 }, restarting));
    const one = await client();
    for (let i = 0; i < 50; i++) {
      one.send('{"ask":"restart"}\n');
      await nextRound();
    }
    await release(await takeOver(directory));
    for (const waiting of [...many, one]) expect(await outcome(waiting)).toEqual(RESTARTED);
    expect(calls.slice(0, 2)).toEqual(['start', 'release']);
  });
});

it('an address with more sockets than the kernel can pass ends the connection, and the process continues', async () => {
  const addresses = [{ listen: LOOPBACK, udp: Array(253).fill(1), tcp: 1 }];
  await predecessor({ sockets: () => ({ addresses, health: 1 }) });
  await expect(takeOver(directory)).rejects.toThrow('has ended');
  expect(log.lines.at(-1)).toMatchObject({ level: 'error' });
  expect(calls).toEqual([]);
});

it.each([
  ['ends', 'process.exit(7)', 'exit code 7'],
  [
    'hangs',
    "process.on('SIGTERM', () => {}); setTimeout(() => {}, 60_000); console.log('it hangs')",
    'SIGKILL',
  ],
])('a node without a parent can kill a successor, and reports why one that %s ended', async (_, program, how) => {
  // The folders are as in the sources, because the node starts `start/run.mjs`.
  for (const folder of ['nameserver/handover', 'start']) mkdirSync(join(root, folder), { recursive: true });
  const source = bundle(`import { startSuccessor } from './src/nameserver/handover/start-successor.ts';
    const kill = startSuccessor(process.cwd(), process.env, (reason) => { console.log(reason); process.exit(); });
    process.stdin.on('data', kill);`);
  writeFileSync(join(root, 'nameserver/handover/node.mjs'), source);
  writeFileSync(join(root, 'start/run.mjs'), program);
  const node = spawn(process.execPath, [join(root, 'nameserver/handover/node.mjs')], { cwd: root });
  cleanUp.push(() => node.kill('SIGKILL'));
  let output = '';
  node.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (text.includes('it hangs')) node.stdin.write('kill it');
  });
  await once(node.stdout, 'close'); // the successor had it open too
  expect(output).toContain(earlyEnd(how));
});
