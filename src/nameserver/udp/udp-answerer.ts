// What a UDP thread is given (shared memory and plain values), the messages between it and the main thread, and what is
// built from those: that which answers.

import { programUrl } from '../../process/compiled.ts';
import { AmplificationLimit } from '../answer/amplification-limit.ts';
import type { AnswerSettings, PacketAnswerer } from '../answer/answer-query.ts';
import { QueryCounters } from '../answer/query-counters.ts';
import { RateLimit } from '../answer/response-rate-limit.ts';
import { ZoneCounts } from '../counts/zone-counts.ts';
import { AskedMarks } from '../image/find/asked-marks.ts';
import { CountryTable } from '../image/find/country-table.ts';
import { Image, ReaderSlot } from '../image/image.ts';
import type { Reader } from './packet-batch.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** What answers are made from. */
export interface UdpAnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: Omit<
    AnswerSettings,
    'rateLimit' | 'amplificationLimit' | 'asked' | 'countries' | 'zoneCounts'
  >;
  /** The memory of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** The memory of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** The memory of AmplificationLimit; undefined: no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
  /** The memory of AskedMarks; undefined: nobody looks at them. */
  readonly asked?: SharedArrayBuffer | undefined;
  /** The memory of CountryTable; undefined: every address gets the edge's default sets. */
  readonly countries?: SharedArrayBuffer | undefined;
  /** The memory of ZoneCounts; undefined: answers are not counted by zone. */
  readonly zoneCounts?: SharedArrayBuffer | undefined;
}

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
  /** A value of STOP. Accessed by Atomics. */
  STOP: 0,
  /** The thread adds 1 at every turn of its loop, which happens several times a second in any case. */
  BEATS: 1,
} as const;
export const CONTROL_BYTES = 8;

/** When the thread must end. */
export const STOP = {
  NOT: 0,
  NOW: 1,
  /** Once it has replied to what it has received: another process goes on reading from the sockets. */
  AFTER_REPLY: 2,
} as const;

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
