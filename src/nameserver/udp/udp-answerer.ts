// Builds what answers over UDP in one thread from values that can be handed to a thread: shared memory and plain
// values.

import { programUrl } from '../../process/compiled.ts';
import { Image, ReaderSlot } from '../../zone/image/image.ts';
import { AmplificationLimit } from '../answer/amplification-limit.ts';
import type { AnswerSettings, PacketAnswerer } from '../answer/answer-query.ts';
import { QueryCounters } from '../answer/query-counters.ts';
import { RateLimit } from '../answer/response-rate-limit.ts';
import type { Reader } from './packet-batch.ts';

export interface UdpAnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: Omit<AnswerSettings, 'rateLimit' | 'amplificationLimit'>;
  /** The memory of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** The memory of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** The memory of AmplificationLimit; undefined: no limit. */
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
  };
  return {
    answerer: new Answerer(image, settings, counters, reportFailure),
    reader: new ReaderSlot(image, parts.slot),
    counters,
  };
}
