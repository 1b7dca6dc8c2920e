// The input of a UDP thread (shared memory and plain values), the messages between it and the main thread, and the
// answerer that is built from them.

import { programUrl } from '../../process/compiled.ts';
import { AmplificationLimit } from '../answer/amplification-limit.ts';
import type { PacketAnswerer, SharedAnswerSettings } from '../answer/answer-query.ts';
import { QueryCounters } from '../answer/query-counters.ts';
import { RateLimit } from '../answer/response-rate-limit.ts';
import { ZoneCounts } from '../counts/zone-counts.ts';
import { AskedMarks } from '../image/find/asked-marks.ts';
import { CountryTable } from '../image/find/country-table.ts';
import { Image, type Reader, ReaderSlot } from '../image/image.ts';
import type { SamplerParts, Samples } from '../observe/sampler.ts';
import type { SlowPathMemory } from '../slow-path/slow-path-limit.ts';
import type { SlowPacket } from './slow-packet.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** The parts that an answerer is built from. */
export interface UdpAnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: SharedAnswerSettings;
  /** The memory of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** The memory of RateLimit. Undefined if there is no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** The memory of AmplificationLimit. Undefined if there is no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
  /** The memory of AskedMarks. Undefined if they are not used. */
  readonly asked?: SharedArrayBuffer | undefined;
  /** The memory of CountryTable. Undefined if every client gets the default edge sets. */
  readonly countries?: SharedArrayBuffer | undefined;
  /** The memory of ZoneCounts. Undefined if answers are not counted by zone. */
  readonly zoneCounts?: SharedArrayBuffer | undefined;
}

/** The start options of a thread: enough to load its code. */
export interface UdpThreadStart {
  /** The URL of the module with `Answerer`. Tests use others. */
  readonly answerer: string;
}

/** Everything that a thread needs to serve. */
export interface UdpThreadParts extends UdpAnswererParts {
  /** At least one socket. */
  readonly sockets: readonly UdpSocket[];
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

export interface UdpAnswerer {
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
}

/** A module like answer-query.ts. */
export interface AnswererModule {
  readonly Answerer: new (
    ...parameters: ConstructorParameters<typeof import('../answer/answer-query.ts').Answerer>
  ) => PacketAnswerer;
}

export const ANSWERER = programUrl(new URL('../answer/answer-query.ts', import.meta.url)).href;

export function openUdpAnswerer(
  { Answerer }: AnswererModule,
  parts: UdpAnswererParts,
  reportFailure: (error: unknown) => void,
): UdpAnswerer {
  const image = new Image(parts.image);
  const counters = new QueryCounters(parts.counters);
  const settings = {
    ...parts.settings,
    rateLimit: parts.rateLimit && RateLimit.on(parts.rateLimit),
    amplificationLimit: parts.amplificationLimit && AmplificationLimit.on(parts.amplificationLimit),
    asked: parts.asked && new AskedMarks(parts.asked),
    countries: parts.countries && new CountryTable(parts.countries),
    zoneCounts: parts.zoneCounts && new ZoneCounts(parts.zoneCounts),
  };
  return {
    answerer: new Answerer(image, settings, counters, reportFailure),
    reader: new ReaderSlot(image, parts.slot),
    counters,
  };
}
