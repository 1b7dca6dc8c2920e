// What a UDP thread is given, and how it and the main thread hear of each other.

import type { UdpAnswererParts } from './udp-answerer.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** What it is started with: enough to load all it needs. */
export interface UdpThreadStart {
  /** The URL of the module with `Answerer`: tests have others. */
  readonly answerer: string;
}

/** What it serves. */
export interface UdpThreadParts extends UdpAnswererParts {
  /** At least one. */
  readonly sockets: readonly UdpSocket[];
  /** The words of CONTROL. */
  readonly control: SharedArrayBuffer;
}

export const CONTROL = {
  /** Not 0: end. Atomics. */
  STOP: 0,
  /** Counted up at every turn, of which there are several a second whatever happens. */
  BEATS: 1,
} as const;
export const CONTROL_OCTETS = 8;

/** The one message that it takes. */
export type ToUdpThread =
  | { readonly kind: 'serve'; readonly parts: UdpThreadParts }
  | { readonly kind: 'end' };

export type FromUdpThread =
  /** It can take its message. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'serving' }
  /** A bug that a query met. */
  | { readonly kind: 'failure'; readonly error: unknown };
