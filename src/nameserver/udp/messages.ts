// The input of a UDP thread (shared memory and plain values), and the messages between it and the main thread.

import type { AnswererParts } from '../answer/open-answerer.ts';
import type { SamplerParts, Samples } from '../observe/sampler.ts';
import type { SlowPathMemory } from '../slow-path/slow-path-limit.ts';
import type { XdpQueue } from '../xdp/queue.ts';
import type { SlowPacket } from './slow-packet.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** The start options of a thread: enough to load its code. */
export interface UdpThreadStart {
  /** The URL of the module with `Answerer`. Tests use others. */
  readonly answerer: string;
}

/** Everything that a thread needs to serve. */
export interface UdpThreadParts extends AnswererParts {
  /** At least one socket. */
  readonly sockets: readonly UdpSocket[];
  /** The queue of an interface that the thread serves instead of the sockets, which only send answers of the slow path. */
  readonly queue?: XdpQueue | undefined;
  /** The memory of the words of CONTROL. */
  readonly control: SharedArrayBuffer;
  /** The memory of SlowPathLimit. Undefined if the node has no transfer thread. */
  readonly slowPath: SlowPathMemory | undefined;
  /** Undefined if no answers are sampled. */
  readonly sampling?: SamplerParts | undefined;
}

export const CONTROL = {
  /** A value of STOP, accessed with Atomics. */
  STOP: 0,
  /** Incremented at every turn of the thread's loop, several times per second even when idle. */
  BEATS: 1,
} as const;
export const CONTROL_BYTES = 8;

/** Tells a thread when to end. */
export const STOP = {
  NOT: 0,
  NOW: 1,
  /** After it has replied to what it has received. Another process continues to read from the sockets. */
  AFTER_REPLY: 2,
} as const;

/** The messages to the thread. */
export type ToUdpThread =
  | { readonly kind: 'serve'; readonly parts: UdpThreadParts }
  | { readonly kind: 'end' };

export type FromUdpThread =
  /** The thread is ready to receive its message. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'serving' }
  /** A packet that the transfer thread answers. */
  | { readonly kind: 'slow'; readonly packet: SlowPacket }
  /** Samples for the observing thread. */
  | { readonly kind: 'samples'; readonly samples: Samples }
  /** A query caused an unhandled error. */
  | { readonly kind: 'failure'; readonly error: unknown };
