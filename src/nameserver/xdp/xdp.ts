// The interfaces at which this process takes packets before the kernel does (XDP_INTERFACES). The main thread owns their
// descriptors, so a thread that dies is replaced and loses nothing. If XDP is not possible at an interface, the log has
// the reason, and the UDP sockets get its packets.

import type { ListenAddress } from '../../process/listen-address.ts';
import type { Log } from '../../process/reconnect.ts';
import type { Libc } from '../threads/libc.ts';
import { countQueues, indexOf, mtuOf } from './interfaces.ts';
import { openXdpKernel, type XdpKernel } from './kernel.ts';
import { openInterface, XdpFault, type XdpInterface } from './open-interface.ts';
import { QUEUE_STATE, QUEUE_STATE_BYTES, type XdpQueue } from './queue.ts';

export interface Xdp {
  readonly queues: readonly XdpQueue[];
  readonly interfaces: readonly XdpInterface[];
  /** Takes packets from now on. Call it when the threads of all queues serve, and before the process drops its rights. */
  activate(): void;
  /** Leaves all further packets to the kernel. */
  detach(): void;
  close(): void;
}

const WATCH_INTERVAL_MS = 1000;

interface XdpOptions {
  readonly libc: Libc;
  readonly interfaces: readonly string[];
  readonly listen: readonly ListenAddress[];
  /** The number of queues for which there are resources. */
  readonly maxQueues: number;
  readonly log: Log;
}

/** Never fails: each interface that cannot be opened is logged. */
export async function openXdp(options: XdpOptions): Promise<Xdp> {
  const kernel = await openXdpKernel(options.libc);
  const opened: { opened: XdpInterface; activate(): void }[] = [];
  let left = options.maxQueues;
  for (const name of options.interfaces) {
    try {
      const queues = countQueues(name);
      if (queues > left) throw new XdpFault(tooManyQueues(name, queues, left));
      const one = openInterface(kernel, name, queues, options.listen);
      opened.push(one);
      left -= queues;
      options.log.info(
        { interface: name, mode: one.opened.mode, queues },
        'answering UDP with XDP at this interface',
      );
    } catch (error) {
      logFault(options.log, name, error);
    }
  }
  return new OpenXdp(kernel, opened, options.log);
}

function tooManyQueues(name: string, queues: number, left: number): string {
  return `it has ${queues} queues and ${left} are possible: reduce DNS_THREADS, or run "ethtool -L ${name} combined ${left}"`;
}

function logFault(log: Log, name: string, error: unknown): void {
  const reason = (error as Error).message;
  log.warn(
    { interface: name, reason },
    'XDP cannot be used at this interface: its queries take the path through the kernel',
  );
}

class OpenXdp implements Xdp {
  readonly interfaces: readonly XdpInterface[];
  readonly queues: readonly XdpQueue[];
  readonly #kernel: XdpKernel;
  readonly #opened: readonly { opened: XdpInterface; activate(): void }[];
  readonly #ofInterface: readonly (readonly XdpQueue[])[];
  readonly #log: Log;
  readonly #deleted = new Set<XdpInterface>();
  readonly #watch: NodeJS.Timeout;
  #links: number[];

  constructor(kernel: XdpKernel, opened: readonly { opened: XdpInterface; activate(): void }[], log: Log) {
    this.#kernel = kernel;
    this.#opened = opened;
    this.#log = log;
    this.interfaces = opened.map((one) => one.opened);
    this.#ofInterface = this.interfaces.map(({ index, queues }) =>
      queues.map((queue) => ({
        ...queue,
        state: new SharedArrayBuffer(QUEUE_STATE_BYTES),
        interfaceIndex: index,
      })),
    );
    this.queues = this.#ofInterface.flat();
    this.#links = this.interfaces.map(({ link }) => link);
    this.#look();
    this.#watch = setInterval(() => this.#look(), WATCH_INTERVAL_MS).unref();
  }

  activate(): void {
    for (const { state } of this.queues) {
      const words = new Int32Array(state);
      Atomics.store(words, QUEUE_STATE.IS_ACTIVE, 1);
      Atomics.notify(words, QUEUE_STATE.IS_ACTIVE);
    }
    for (const { opened, activate } of this.#opened) {
      try {
        activate();
      } catch (error) {
        logFault(this.#log, opened.name, error);
      }
    }
  }

  detach(): void {
    clearInterval(this.#watch);
    for (const link of this.#links.splice(0)) this.#kernel.close(link);
  }

  close(): void {
    this.detach();
    for (const { socket, frames } of this.queues) {
      this.#kernel.close(socket);
      this.#kernel.close(frames);
    }
  }

  /** Follows the MTU, and reports a deleted interface, which does not come back. */
  #look(): void {
    for (const [i, one] of this.interfaces.entries()) {
      if (this.#deleted.has(one)) continue;
      const mtu = mtuOf(one.name);
      if (mtu === undefined || indexOf(one.name) !== one.index) {
        this.#deleted.add(one);
        this.#log.warn(
          { interface: one.name },
          'the interface was deleted: restart the node to use XDP at a new one',
        );
        continue;
      }
      for (const { state } of this.#ofInterface[i] ?? []) {
        Atomics.store(new Int32Array(state), QUEUE_STATE.MTU, mtu);
      }
    }
  }
}
