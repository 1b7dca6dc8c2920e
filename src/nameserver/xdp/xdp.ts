// The interfaces at which this process takes packets before the kernel does (XDP_INTERFACES). The main thread owns their
// descriptors, so a thread that dies is replaced and loses nothing. If XDP is not possible at an interface, the reason is
// logged, and the UDP sockets receive its packets.

import type { ListenAddress } from '../../process/listen-address.ts';
import type { Log } from '../../process/reconnect.ts';
import type { Libc } from '../threads/libc.ts';
import { countQueues, indexOf, mtuOf } from './interfaces.ts';
import { openXdpKernel, type XdpKernel } from './kernel.ts';
import { openInterface, XdpFault, type XdpInterface } from './open-interface.ts';
import { QUEUE_STATE, QUEUE_STATE_BYTES, type XdpQueue } from './queue.ts';
import { LAYOUT } from './queue-memory.ts';

/** An interface of a process, for the one that replaces it. `link` and the numbers of `queues` are descriptors. */
export interface XdpShare extends XdpInterface {
  readonly layout: string;
}

export interface Xdp {
  readonly queues: readonly XdpQueue[];
  /** The interfaces that have not been deleted. */
  readonly interfaces: readonly XdpInterface[];
  /**
   * Starts to take packets at the interfaces that this process has opened. Call it when the threads of all queues serve,
   * and before the process drops its rights.
   */
  activate(): void;
  /** Starts to use the inherited interfaces. Call it when no other process uses them. */
  activateInherited(): void;
  share(): readonly XdpShare[];
  /** Leaves all later packets to the kernel, unless another process has the interfaces too. */
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
  /** The interfaces of the process that this one replaces. */
  readonly inherited: readonly XdpShare[];
  readonly log: Log;
}

interface OpenInterface {
  readonly opened: XdpInterface;
  /** Undefined if the interface is inherited: it takes packets already. */
  readonly activate?: () => void;
}

/** Never rejects: logs each interface that cannot be used. */
export async function openXdp(options: XdpOptions): Promise<Xdp> {
  const { interfaces, inherited, log } = options;
  const kernel = await openXdpKernel(options.libc);
  const open: OpenInterface[] = [];
  let left = options.maxQueues;
  for (const name of new Set(interfaces)) {
    try {
      const queues = countQueues(name);
      if (queues > left) throw new XdpFault(tooManyQueues(name, queues, left));
      const one = takeInherited(name, inherited) ?? openNew(kernel, name, queues, options.listen);
      open.push(one);
      left -= one.opened.queues.length;
      log.info(
        { interface: name, mode: one.opened.mode, queues },
        'answering UDP with XDP at this interface',
      );
    } catch (error) {
      logFault(log, name, error);
    }
  }
  if (interfaces.length === 0 && inherited.length === 0) {
    log.warn({}, 'DNS_IO is xdp, but XDP_INTERFACES is empty: all queries take the path through the kernel');
  }
  for (const one of inherited) if (!open.some(({ opened }) => opened === one)) closeAll(kernel, one);
  return new OpenXdp(kernel, open, log);
}

function takeInherited(name: string, inherited: readonly XdpShare[]): OpenInterface | undefined {
  const opened = inherited.find((one) => one.name === name && one.index === indexOf(name));
  if (opened !== undefined && opened.layout !== LAYOUT) {
    throw new XdpFault(
      'the memory of the replaced process has another layout: stop the node and start it again',
    );
  }
  return opened && { opened };
}

function openNew(
  kernel: XdpKernel,
  name: string,
  queues: number,
  listen: readonly ListenAddress[],
): OpenInterface {
  // Capabilities belong to threads. Only a change of the user removes them from all threads, including those of V8.
  if (process.getuid?.() !== 0)
    throw new XdpFault('this process was not started by root: stop the node, and start it as root');
  return openInterface(kernel, name, queues, listen);
}

function tooManyQueues(name: string, queues: number, left: number): string {
  const remedy = `reduce DNS_THREADS, or run "ethtool -L ${name} combined ${left}"`;
  return `it has ${queues} queues and ${left} more are possible: ${remedy}`;
}

function logFault(log: Log, name: string, error: unknown): void {
  const facts = { interface: name, reason: (error as Error).message };
  log.warn(facts, 'XDP cannot be used at this interface: its queries take the path through the kernel');
}

function closeAll(kernel: XdpKernel, { link, queues }: XdpInterface): void {
  kernel.close(link);
  for (const { socket, frames } of queues) {
    kernel.close(socket);
    kernel.close(frames);
  }
}

class OpenXdp implements Xdp {
  readonly queues: readonly XdpQueue[];
  readonly #kernel: XdpKernel;
  readonly #open: readonly (OpenInterface & { readonly queues: readonly XdpQueue[] })[];
  readonly #log: Log;
  readonly #deleted = new Set<XdpInterface>();
  readonly #watch: NodeJS.Timeout;
  #isAttached = true;

  constructor(kernel: XdpKernel, open: readonly OpenInterface[], log: Log) {
    this.#kernel = kernel;
    this.#log = log;
    this.#open = open.map((one) => ({
      ...one,
      queues: one.opened.queues.map((queue) => ({
        ...queue,
        interfaceIndex: one.opened.index,
        state: new SharedArrayBuffer(QUEUE_STATE_BYTES),
      })),
    }));
    this.queues = this.#open.flatMap(({ queues }) => queues);
    this.#watchInterfaces();
    this.#watch = setInterval(() => this.#watchInterfaces(), WATCH_INTERVAL_MS).unref();
  }

  get interfaces(): readonly XdpInterface[] {
    return this.#open.map(({ opened }) => opened).filter((one) => !this.#deleted.has(one));
  }

  activate(): void {
    for (const { opened, activate, queues } of this.#open) {
      if (activate === undefined) continue;
      startQueues(queues);
      try {
        activate();
      } catch (error) {
        logFault(this.#log, opened.name, error);
      }
    }
  }

  activateInherited(): void {
    for (const { activate, queues } of this.#open) if (activate === undefined) startQueues(queues);
  }

  share(): readonly XdpShare[] {
    return this.interfaces.map((one) => ({ ...one, layout: LAYOUT }));
  }

  detach(): void {
    clearInterval(this.#watch);
    if (!this.#isAttached) return;
    this.#isAttached = false;
    for (const { opened } of this.#open) this.#kernel.close(opened.link);
  }

  close(): void {
    this.detach();
    for (const { socket, frames } of this.queues) {
      this.#kernel.close(socket);
      this.#kernel.close(frames);
    }
  }

  /** Follows the MTU, and reports an interface that was deleted. */
  #watchInterfaces(): void {
    for (const { opened, queues } of this.#open) {
      if (this.#deleted.has(opened)) continue;
      const mtu = mtuOf(opened.name);
      if (mtu === undefined || indexOf(opened.name) !== opened.index) {
        this.#deleted.add(opened);
        const facts = { interface: opened.name };
        this.#log.warn(facts, 'the interface was deleted: restart the node to use XDP at a new one');
        continue;
      }
      for (const { state } of queues) Atomics.store(new Int32Array(state), QUEUE_STATE.MTU, mtu);
    }
  }
}

function startQueues(queues: readonly XdpQueue[]): void {
  for (const { state } of queues) {
    const words = new Int32Array(state);
    Atomics.store(words, QUEUE_STATE.IS_ACTIVE, 1);
    Atomics.notify(words, QUEUE_STATE.IS_ACTIVE);
  }
}
