// The loop of a thread that serves one queue of an interface.

import { EAGAIN, EINTR, type Libc, POLLIN, SystemError } from '../threads/libc.ts';
import { BATCH_FRAMES, FrameBatch, type FrameBatchParts } from './frame-batch.ts';
import { openXdpKernel, POLLOUT, type XdpKernel } from './kernel.ts';
import { QUEUE_STATE, type XdpQueue } from './queue.ts';
import { mapQueue } from './queue-memory.ts';

const WAIT_MS = 100;
/** Maximum number of calls that make the kernel send one batch. Without a limit, a slow interface could block the thread. */
const MAX_WAKEUPS = 64;

/** Returns a function that serves until its parameter, which is called several times per second, returns true. */
export async function openQueueServer(
  libc: Libc,
  queue: XdpQueue,
  parts: FrameBatchParts,
): Promise<(beat: () => boolean) => void> {
  const kernel = await openXdpKernel(libc);
  const memory = mapQueue(kernel, queue);
  return (beat) => {
    if (!isActivated(queue, beat)) return;
    // Created only now, because another process may have used the rings until they were activated.
    const batch = new FrameBatch(memory, ...parts);
    serveQueue(kernel, queue, batch, beat);
    batch.rest(); // posts the last samples
  };
}

/** Returns false if `beat` returns true first. */
function isActivated({ state }: XdpQueue, beat: () => boolean): boolean {
  const words = new Int32Array(state);
  while (Atomics.load(words, QUEUE_STATE.IS_ACTIVE) === 0) {
    if (beat()) return false;
    Atomics.wait(words, QUEUE_STATE.IS_ACTIVE, 0, WAIT_MS);
  }
  return true;
}

/**
 * Serves until `beat`, which is called several times per second, returns true. Frames that have been received by then
 * are answered.
 */
function serveQueue(kernel: XdpKernel, queue: XdpQueue, batch: FrameBatch, beat: () => boolean): void {
  const state = new Int32Array(queue.state);
  const { rings } = batch;
  const waiting = new Int32Array(2); // struct pollfd
  const address = kernel.addressOf(new Uint8Array(waiting.buffer));
  for (;;) {
    rings.freeCompleted();
    const count = Math.min(rings.waiting, rings.sendRoom, BATCH_FRAMES);
    if (count > 0) {
      batch.mtu = state[QUEUE_STATE.MTU] as number;
      batch.reply(count);
      send(kernel, queue.socket, batch);
      if (beat()) break;
      continue;
    }
    // With a full send ring, the thread waits only for sending: any frame that arrives would end another wait immediately.
    waiting[0] = queue.socket;
    waiting[1] = rings.sendRoom === 0 ? POLLOUT : POLLIN;
    const ready = kernel.poll(address, 1, WAIT_MS);
    if (beat()) break;
    if (ready > 0) continue;
    batch.rest();
    const errno = ready === 0 ? EINTR : kernel.errno();
    if (errno !== EINTR && errno !== EAGAIN) throw new SystemError('poll', errno);
  }
  for (let left = rings.waiting; left > 0 && rings.sendRoom > 0; ) {
    const count = Math.min(left, rings.sendRoom, BATCH_FRAMES);
    batch.reply(count);
    send(kernel, queue.socket, batch);
    left -= count;
  }
}

/** Makes the kernel send. Frames that it does not take now are sent with a later batch, or while the thread waits. */
function send(kernel: XdpKernel, socket: number, { rings }: FrameBatch): void {
  for (let i = 0; i < MAX_WAKEUPS && rings.sendNeedsWakeup && rings.unsent > 0; i++) {
    if (kernel.sendRing(socket) >= 0) continue;
    if (kernel.errno() !== EAGAIN) return; // EBUSY, ENOBUFS: no memory or slot is free; ENETDOWN: the interface is down
    rings.freeCompleted();
  }
}
