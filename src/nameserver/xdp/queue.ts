// A queue, as the main thread passes it to the thread that serves it.

import type { QueueDescriptors } from './queue-memory.ts';

export interface XdpQueue extends QueueDescriptors {
  readonly interfaceIndex: number;
  /** The memory of the words of QUEUE_STATE. */
  readonly state: SharedArrayBuffer;
}

export const QUEUE_STATE = {
  /** 1 if the thread may use the rings, because no other process does. */
  IS_ACTIVE: 0,
  /** The MTU of the interface. */
  MTU: 1,
} as const;
export const QUEUE_STATE_BYTES = 8;
