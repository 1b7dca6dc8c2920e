// A thread that answers over UDP: receives, answers and sends until it must end. It runs no event loop: after the start
// it only reads shared memory and sends messages.

import { parentPort, workerData } from 'node:worker_threads';
import { type AnswererModule, openAnswerer } from '../answer/open-answerer.ts';
import { MAX_UDP_OCTETS } from '../answer/opt-writer.ts';
import { Sampler, type Samples } from '../observe/sampler.ts';
import { SlowPathLimit } from '../slow-path/slow-path-limit.ts';
import { EAGAIN, EINTR, type Libc, openLibc, POLLIN, SystemError } from '../threads/libc.ts';
import { throttled } from '../threads/throttled.ts';
import type { SlowFrame } from '../xdp/frame-batch.ts';
import {
  CONTROL,
  type FromUdpThread,
  STOP,
  type ToUdpThread,
  type UdpThreadParts,
  type UdpThreadStart,
} from './messages.ts';
import { PacketBatch } from './packet-batch.ts';
import type { SlowPacket } from './slow-packet.ts';
import { type UdpSocket, WAIT_MS } from './udp-sockets.ts';

const module_: AnswererModule = await import((workerData as UdpThreadStart).answerer);
const libc = await openLibc();

parentPort?.once('message', async (message: ToUdpThread) => {
  if (message.kind === 'serve') await serve(message.parts);
  process.exit(); // ends only the thread
});
tell({ kind: 'loaded' });

async function serve(parts: UdpThreadParts): Promise<void> {
  const { answerer, reader, counters } = openAnswerer(module_, parts, reportFailure);
  const limit = parts.slowPath && new SlowPathLimit(parts.slowPath);
  const sampler =
    parts.sampling &&
    new Sampler(parts.sampling, counters, (samples) => tell({ kind: 'samples', samples }, samples));
  const control = new Int32Array(parts.control);
  if (parts.queue !== undefined) {
    const { queue, sockets } = parts;
    const { openQueueServer } = await import('../xdp/serve-queue.ts');
    const { packetOf } = await import('./slow-frame.ts');
    const slow = limit && {
      limit,
      post: (frame: SlowFrame) => tellSlow(packetOf(frame, sockets, queue.interfaceIndex)),
    };
    const serveQueue = await openQueueServer(libc, queue, [answerer, reader, counters, slow, sampler]);
    tell({ kind: 'serving' });
    serveQueue(() => beat(control) !== STOP.NOT);
    return;
  }
  const slow = limit && { limit, post: tellSlow };
  const batch = new PacketBatch(libc, answerer, reader, counters, MAX_UDP_OCTETS, slow, sampler);
  tell({ kind: 'serving' });
  const [only, ...others] = parts.sockets;
  if (only !== undefined && others.length === 0) serveOne(batch, control, only);
  else serveSeveral(libc, batch, control, parts.sockets);
  batch.rest(); // posts the last samples
}

/** @param moved samples whose memory moves to the other thread */
function tell(message: FromUdpThread, moved?: Samples): void {
  parentPort?.postMessage(message, moved && [moved.octets.buffer]);
}

function tellSlow(packet: SlowPacket | undefined): void {
  if (packet !== undefined) tell({ kind: 'slow', packet });
}

/** Reports an unhandled error of a query. */
const reportFailure = throttled((error) =>
  tell({ kind: 'failure', error: error instanceof Error ? error : String(error) }),
);

/** Returns a value of STOP. */
function beat(control: Int32Array): number {
  control[CONTROL.BEATS] = ((control[CONTROL.BEATS] as number) + 1) | 0;
  return Atomics.load(control, CONTROL.STOP);
}

function serveOne(batch: PacketBatch, control: Int32Array, socket: UdpSocket): void {
  for (;;) {
    const received = batch.receive(socket);
    const stop = beat(control);
    if (stop === STOP.NOW) return; // no packet may have been received
    if (received > 0) batch.reply(socket, received);
    if (stop === STOP.AFTER_REPLY) return;
  }
}

/** Needs one more call per batch, to wait for several sockets. */
function serveSeveral(
  libc: Libc,
  batch: PacketBatch,
  control: Int32Array,
  sockets: readonly UdpSocket[],
): void {
  const waiting = new Int32Array(2 * sockets.length); // struct pollfd: descriptor, requested and returned events
  for (const [i, { descriptor }] of sockets.entries()) waiting.set([descriptor, POLLIN], 2 * i);
  const address = libc.addressOf(new Uint8Array(waiting.buffer));
  for (;;) {
    const ready = libc.poll(address, sockets.length, WAIT_MS);
    if (beat(control) !== STOP.NOT) return;
    if (ready === 0) batch.rest();
    if (ready < 0) {
      const errno = libc.errno();
      if (errno !== EINTR && errno !== EAGAIN) throw new SystemError('poll', errno);
      continue;
    }
    for (let i = 0; i < sockets.length; i++) {
      if ((waiting[2 * i + 1] as number) >>> 16 === 0) continue;
      const socket = sockets[i] as UdpSocket;
      const received = batch.receivePending(socket);
      if (received > 0) batch.reply(socket, received);
    }
  }
}
