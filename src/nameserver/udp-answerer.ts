// What answers over UDP in one thread, put together from what can be handed to a thread: shared memory and plain values.

import { Image, ReaderSlot } from '../zone/image/image.ts';
import type { AnswerSettings } from './answer-query.ts';
import type { PacketAnswerer, Reader } from './packet-batch.ts';
import { QueryCounters } from './query-counters.ts';
import { RateLimit } from './rate-limit.ts';

export interface UdpAnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: Omit<AnswerSettings, 'rateLimit'>;
  /** Of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** Of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
}

export interface UdpAnswerer {
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
}

/** A module like answer-query.ts. */
export interface AnswererModule {
  readonly Answerer: new (
    ...parameters: ConstructorParameters<typeof import('./answer-query.ts').Answerer>
  ) => PacketAnswerer;
}

export const ANSWERER = new URL('./answer-query.ts', import.meta.url).href;

export function openUdpAnswerer(
  { Answerer }: AnswererModule,
  { image: buffer, slot, settings, counters: counted, rateLimit: limit }: UdpAnswererParts,
  reportFailure: (error: unknown) => void,
): UdpAnswerer {
  const image = new Image(buffer);
  const counters = new QueryCounters(counted);
  const rateLimit = limit === undefined ? undefined : RateLimit.on(limit);
  return {
    answerer: new Answerer(image, { ...settings, rateLimit }, counters, reportFailure),
    reader: new ReaderSlot(image, slot),
    counters,
  };
}
