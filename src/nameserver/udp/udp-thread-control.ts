// What a UDP thread is given, and how it and the main thread communicate.

import type { UdpAnswererParts } from './udp-answerer.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** What a thread is started with: enough to load all that it needs. */
export interface UdpThreadStart {
  /** The URL of the module with `Answerer`: tests use others. */
  readonly answerer: string;
}

/** What a thread serves with. */
export interface UdpThreadParts extends UdpAnswererParts {
  /** There is at least one socket. */
  readonly sockets: readonly UdpSocket[];
  /** The memory of the words of CONTROL. */
  readonly control: SharedArrayBuffer;
}

export const CONTROL = {
  /** Not 0: the thread must end. Accessed by Atomics. */
  STOP: 0,
  /** The thread adds 1 at every turn of its loop, which happens several times a second in any case. */
  BEATS: 1,
} as const;
export const CONTROL_OCTETS = 8;

/** The only message to the thread. */
export type ToUdpThread =
  | { readonly kind: 'serve'; readonly parts: UdpThreadParts }
  | { readonly kind: 'end' };

export type FromUdpThread =
  /** The thread can take its message. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'serving' }
  /** A query caused an unhandled error. */
  | { readonly kind: 'failure'; readonly error: unknown };
