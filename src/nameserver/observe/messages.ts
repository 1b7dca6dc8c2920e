// The messages between the main thread and the observing thread.

import type { FrameReader } from '../../process/settings/nameserver-settings.ts';
import type { LogMessage } from '../threads/thread-log.ts';
import type { Samples } from './sampler.ts';

export interface ObserveOptions {
  readonly dnstap: FrameReader | undefined;
  readonly queryLog: string | undefined;
  readonly queryLogClient: 'prefix' | 'full';
  readonly nodeName: string;
  readonly version: string;
  /** `pending` of SamplerParts. */
  readonly pending: SharedArrayBuffer;
  /** Memory of the numbers in OBSERVED. */
  readonly observed: SharedArrayBuffer;
}

/** Positions of the observing thread's counters. Only that thread writes them, and they outlive it. */
export const OBSERVED = {
  frames: 0,
  /** Frames that were dropped because no reader was connected. */
  framesUnread: 1,
  /** Frames that were dropped because the reader was too slow. */
  framesQueued: 2,
  /** Lines that could not be written. */
  linesUnwritten: 3,
  /** Octets of samples that were processed. */
  octets: 4,
} as const;

/** The counters that are exported. */
export type Observed = Readonly<Record<Exclude<keyof typeof OBSERVED, 'octets'>, number>>;

export type ToObserveThread =
  | { readonly kind: 'samples'; readonly samples: Samples }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'stop' };

export type FromObserveThread = LogMessage;
