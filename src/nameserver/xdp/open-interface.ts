// Opens XDP at one interface, in the fastest mode that its driver supports: the program, the link and a socket for each
// queue.

import type { ListenAddress } from '../../process/listen-address.ts';
import { SystemError } from '../threads/libc.ts';
import { ATTACH, type AttachMode, attach, createSocketMap, loadFilter, setSocket } from './bpf.ts';
import { indexOf, macOf, stripsTags, targetsAt, vlansOf } from './interfaces.ts';
import type { XdpKernel } from './kernel.ts';
import { BIND, type BindMode, openQueue } from './open-queue.ts';
import { MAX_TARGETS } from './packet-filter.ts';
import type { QueueDescriptors } from './queue-memory.ts';

type XdpMode = 'zero-copy' | 'copy' | 'generic';

/** The descriptors of an interface. */
export interface XdpInterface {
  readonly name: string;
  readonly index: number;
  readonly mode: XdpMode;
  readonly link: number;
  readonly queues: readonly QueueDescriptors[];
}

const MODES: readonly [XdpMode, AttachMode, BindMode][] = [
  ['zero-copy', ATTACH.DRIVER, BIND.ZERO_COPY],
  ['copy', ATTACH.DRIVER, BIND.COPY],
  ['generic', ATTACH.GENERIC, BIND.COPY],
];

/** The reason why XDP cannot be used at an interface, and what the operator can do. */
export class XdpFault extends Error {}

/** Returns the interface and a function that starts to take packets. Throws XdpFault if XDP is not possible. */
export function openInterface(
  kernel: XdpKernel,
  name: string,
  queues: number,
  listen: readonly ListenAddress[],
): { opened: XdpInterface; activate(): void } {
  const index = indexOf(name);
  if (index === undefined) throw new XdpFault('there is no such interface');
  const mac = macOf(name);
  if (mac === undefined) throw new XdpFault('it has no Ethernet frames');
  const targets = targetsAt(name, listen);
  if (targets.length === 0)
    throw new XdpFault('DNS_LISTEN has no address that packets at this interface can have');
  if (targets.length > MAX_TARGETS) throw new XdpFault(`the node has more than ${MAX_TARGETS} addresses`);
  const vlans = vlansOf(name);
  // The program would not see the tags, so replies would be sent without them.
  if (vlans.length > 0 && stripsTags(kernel, name)) {
    throw new XdpFault(`its hardware removes VLAN tags: run "ethtool -K ${name} rxvlan off"`);
  }
  const open: number[] = [];
  const keep = (descriptor: number) => {
    open.push(descriptor);
    return descriptor;
  };
  try {
    const map = keep(createSocketMap(kernel, queues));
    const program = keep(loadFilter(kernel, { targets, vlans, mac }, map));
    const opened = openFastest(kernel, { name, index, queues, program });
    return {
      opened,
      activate() {
        try {
          for (const [queue, { socket }] of opened.queues.entries()) setSocket(kernel, map, queue, socket);
        } finally {
          for (const descriptor of open.splice(0)) kernel.close(descriptor); // the link holds them
        }
      },
    };
  } catch (error) {
    for (const descriptor of open.splice(0)) kernel.close(descriptor);
    throw error instanceof SystemError ? explain(error, name) : error;
  }
}

function openFastest(
  kernel: XdpKernel,
  { name, index, queues, program }: { name: string; index: number; queues: number; program: number },
): XdpInterface {
  let fault: unknown;
  for (const [mode, attachMode, bindMode] of MODES) {
    const open: number[] = [];
    try {
      // Some drivers create queues for sockets only while a program is attached.
      const link = attach(kernel, program, index, attachMode);
      open.push(link);
      const sockets = Array.from({ length: queues }, (_, queue) => {
        const descriptors = openQueue(kernel, index, queue, bindMode);
        open.push(descriptors.socket, descriptors.frames);
        return descriptors;
      });
      return { name, index, mode, link, queues: sockets };
    } catch (error) {
      for (const descriptor of open) kernel.close(descriptor);
      if (!isUnsupported(error)) throw error;
      fault = error;
    }
  }
  throw fault;
}

/** Returns true if another mode may work. */
function isUnsupported(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return !['EPERM', 'EACCES', 'EBUSY', 'EEXIST', 'ENODEV', 'ENOBUFS', 'ENOMEM', 'EMFILE'].includes(
    code ?? '',
  );
}

function explain(error: SystemError, name: string): XdpFault {
  const remedy = remedyFor(error, name);
  return new XdpFault(remedy === undefined ? error.message : `${remedy} (${error.message})`);
}

function remedyFor({ code, syscall }: SystemError, name: string): string | undefined {
  if (code === 'EPERM' || code === 'EACCES') {
    return 'the node lacks CAP_NET_RAW, CAP_NET_ADMIN or CAP_BPF';
  }
  if (syscall === 'bind' && code === 'EBUSY') return 'another program uses a queue of this interface';
  if (code === 'EBUSY' || code === 'EEXIST') {
    return `another program is attached: stop its process, or if it has ended, run "ip link set dev ${name} xdp off"`;
  }
  if (code === 'ENOBUFS') return 'the limit of locked memory is too low: raise LimitMEMLOCK';
  if (code === 'EMFILE') return 'the limit of open files is too low: raise LimitNOFILE';
  if (code === 'ENODEV') return 'the interface was deleted';
  if (code === 'EAFNOSUPPORT' || code === 'ENOSYS') return 'this kernel does not support AF_XDP';
  return undefined;
}
