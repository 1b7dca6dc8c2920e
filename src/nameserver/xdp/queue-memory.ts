// The memory of a queue: the frames in a memfd, and the rings, which the socket maps. Every thread and process that has
// both descriptors can map it.

import { SystemError } from '../threads/libc.ts';
import { MAP_POPULATE, MAP_SHARED, PROT_READ_WRITE, SOL_XDP, type XdpKernel } from './kernel.ts';
import type { Ring, RingSet } from './rings.ts';

/** Number of frames that are with the kernel or in the rings. */
export const FRAMES = 2048;
export const FRAME_BYTES = 2048;
/** Offset of one more frame, which is never in a ring, for queries that leave no space for their answers. */
export const SCRATCH_AT = FRAMES * FRAME_BYTES;
export const MEMORY_BYTES = (FRAMES + 1) * FRAME_BYTES;
/** Number of descriptors in each ring. */
export const SLOTS = { fill: FRAMES, receive: 2048, send: 2048, completion: 2048 } as const;
/** Equal in two processes that can share a queue. */
export const LAYOUT = JSON.stringify([FRAMES, FRAME_BYTES, SLOTS]);
const DESCRIPTOR_BYTES = { fill: 8, receive: 16, send: 16, completion: 8 } as const;
/** The offsets at which the socket is mapped. */
const MAP_AT = { receive: 0, send: 0x8000_0000, fill: 0x1_0000_0000, completion: 0x1_8000_0000 } as const;
/** Order of the rings in struct xdp_mmap_offsets. */
const RINGS = ['receive', 'send', 'fill', 'completion'] as const;
const XDP_MMAP_OFFSETS = 1;
const OFFSETS_BYTES = 128;

/** The descriptors of a queue. */
export interface QueueDescriptors {
  readonly socket: number;
  /** The memfd with the frames. */
  readonly frames: number;
}

export interface QueueMemory {
  readonly bytes: Uint8Array;
  readonly rings: RingSet;
  /** Unmaps the memory. Later uses crash the process. */
  unmap(): void;
}

export function mapQueue(kernel: XdpKernel, { socket, frames }: QueueDescriptors): QueueMemory {
  const mapped: [address: number, bytes: number][] = [];
  const unmap = () => {
    for (const [address, bytes] of mapped.splice(0)) kernel.munmap(address, bytes);
  };
  const map = (descriptor: number, bytes: number, offset: number) => {
    const address = kernel.mmap(0, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, offset);
    if (address === -1) throw new SystemError('mmap', kernel.errno());
    mapped.push([address, bytes]);
    return kernel.view(address, bytes);
  };
  try {
    const offsets = new BigUint64Array(OFFSETS_BYTES / 8);
    const length = Uint32Array.of(OFFSETS_BYTES);
    if (kernel.getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, new Uint8Array(offsets.buffer), length) < 0) {
      throw new SystemError('getsockopt', kernel.errno());
    }
    const rings = RINGS.map((name, i): [string, Ring] => {
      const [producer = 0, consumer = 0, descriptors = 0, flags = 0] = [
        ...offsets.subarray(4 * i, 4 * i + 4),
      ].map(Number);
      const bytes = SLOTS[name] * DESCRIPTOR_BYTES[name];
      const memory = map(socket, descriptors + bytes, MAP_AT[name]);
      return [
        name,
        {
          producer: new Int32Array(memory, producer, 1),
          consumer: new Int32Array(memory, consumer, 1),
          flags: new Int32Array(memory, flags, 1),
          words: new Int32Array(memory, descriptors, bytes / 4),
        },
      ];
    });
    const bytes = new Uint8Array(map(frames, MEMORY_BYTES, 0));
    return { bytes, rings: Object.fromEntries(rings) as unknown as RingSet, unmap };
  } catch (error) {
    unmap();
    throw error;
  }
}
