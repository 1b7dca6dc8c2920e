// What answers over UDP in one thread, put together from what can be handed to a thread: shared memory and plain values.

import { programUrl } from '../compiled.ts';
import { Image, ReaderSlot } from '../zone/image/image.ts';
import { AmplificationLimit } from './amplification-limit.ts';
import type { AnswerSettings } from './answer-query.ts';
import type { PacketAnswerer, Reader } from './packet-batch.ts';
import { QueryCounters } from './query-counters.ts';
import { RateLimit } from './rate-limit.ts';

export interface UdpAnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: Omit<AnswerSettings, 'rateLimit' | 'amplificationLimit'>;
  /** Of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** Of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** Of AmplificationLimit; undefined: no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
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

export const ANSWERER = programUrl(new URL('./answer-query.ts', import.meta.url)).href;

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
  };
  return {
    answerer: new Answerer(image, settings, counters, reportFailure),
    reader: new ReaderSlot(image, parts.slot),
    counters,
  };
}
