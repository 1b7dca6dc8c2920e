// Creates the socket of a queue, its rings and its frames.

import { SOCK_CLOEXEC, SystemError } from '../threads/libc.ts';
import {
  AF_XDP,
  MAP_POPULATE,
  MAP_SHARED,
  MFD_CLOEXEC,
  PROT_READ_WRITE,
  SOCK_RAW,
  SOL_XDP,
  type XdpKernel,
} from './kernel.ts';
import { FRAME_BYTES, FRAMES, MEMORY_BYTES, mapQueue, type QueueDescriptors, SLOTS } from './queue-memory.ts';
import { Rings } from './rings.ts';

const OPTION = {
  RX_RING: 2,
  TX_RING: 3,
  UMEM_REG: 4,
  FILL_RING: 5,
  COMPLETION_RING: 6,
  TX_BUDGET: 9,
} as const;
const USE_NEED_WAKEUP = 8;
const SOCKADDR_BYTES = 16; // struct sockaddr_xdp
const UMEM_BYTES = 32; // struct xdp_umem_reg
/** Number of frames that one system call sends in copy mode. Kernels before 6.17 send 32. */
const SENT_PER_CALL = 256;

/** XDP_COPY and XDP_ZEROCOPY. */
export const BIND = { COPY: 2, ZERO_COPY: 4 } as const;
export type BindMode = (typeof BIND)[keyof typeof BIND];

/** Opens a socket, which receives only when it is in the map. */
export function openQueue(
  kernel: XdpKernel,
  interfaceIndex: number,
  queue: number,
  mode: BindMode,
): QueueDescriptors {
  const socket = kernel.socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (socket < 0) throw new SystemError('socket', kernel.errno());
  const frames = kernel.memfdCreate('zonefleet-xdp', MFD_CLOEXEC);
  try {
    if (frames < 0) throw new SystemError('memfd_create', kernel.errno());
    if (kernel.ftruncate(frames, MEMORY_BYTES) < 0) throw new SystemError('ftruncate', kernel.errno());
    registerFrames(kernel, socket, frames);
    setRing(kernel, socket, OPTION.FILL_RING, SLOTS.fill);
    setRing(kernel, socket, OPTION.COMPLETION_RING, SLOTS.completion);
    setRing(kernel, socket, OPTION.RX_RING, SLOTS.receive);
    setRing(kernel, socket, OPTION.TX_RING, SLOTS.send);
    const memory = mapQueue(kernel, { socket, frames });
    const rings = new Rings(memory.rings);
    for (let i = 0; i < FRAMES; i++) rings.free(i * FRAME_BYTES);
    rings.publishFree();
    memory.unmap();
    bind(kernel, socket, interfaceIndex, queue, mode);
    setOption(kernel, socket, OPTION.TX_BUDGET, Uint32Array.of(SENT_PER_CALL));
    return { socket, frames };
  } catch (error) {
    kernel.close(socket);
    if (frames >= 0) kernel.close(frames);
    throw error;
  }
}

function registerFrames(kernel: XdpKernel, socket: number, frames: number): void {
  const address = kernel.mmap(0, MEMORY_BYTES, PROT_READ_WRITE, MAP_SHARED | MAP_POPULATE, frames, 0);
  if (address === -1) throw new SystemError('mmap', kernel.errno());
  const umem = new DataView(new ArrayBuffer(UMEM_BYTES));
  umem.setBigUint64(0, BigInt(address), true);
  umem.setBigUint64(8, BigInt(MEMORY_BYTES), true);
  umem.setUint32(16, FRAME_BYTES, true);
  const isSet = setOption(kernel, socket, OPTION.UMEM_REG, umem);
  const errno = kernel.errno();
  kernel.munmap(address, MEMORY_BYTES); // the socket holds the pages
  if (!isSet) throw new SystemError('setsockopt', errno, 'XDP_UMEM_REG');
}

function setRing(kernel: XdpKernel, socket: number, option: number, slots: number): void {
  if (!setOption(kernel, socket, option, Uint32Array.of(slots))) {
    throw new SystemError('setsockopt', kernel.errno(), 'ring');
  }
}

function setOption(kernel: XdpKernel, socket: number, option: number, value: ArrayBufferView): boolean {
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return kernel.setsockopt(socket, SOL_XDP, option, bytes, bytes.length) === 0;
}

function bind(
  kernel: XdpKernel,
  socket: number,
  interfaceIndex: number,
  queue: number,
  mode: BindMode,
): void {
  const address = new DataView(new ArrayBuffer(SOCKADDR_BYTES));
  address.setUint16(0, AF_XDP, true);
  address.setUint16(2, mode | USE_NEED_WAKEUP, true);
  address.setUint32(4, interfaceIndex, true);
  address.setUint32(8, queue, true);
  if (kernel.bind(socket, new Uint8Array(address.buffer), SOCKADDR_BYTES) < 0) {
    throw new SystemError('bind', kernel.errno());
  }
}
