// Builds the answerer of a thread.

import { programUrl } from '../../process/compiled.ts';
import { ZoneCounts } from '../counts/zone-counts.ts';
import { AskedMarks } from '../image/find/asked-marks.ts';
import { CountryTable } from '../image/find/country-table.ts';
import { Image, type Reader, ReaderSlot } from '../image/image.ts';
import { AmplificationLimit } from './amplification-limit.ts';
import type { GroupAnswerer, SharedAnswerSettings } from './answer-query.ts';
import { QueryCounters } from './query-counters.ts';
import { RateLimit } from './response-rate-limit.ts';

/** Shared memory and plain values, which any thread can receive. */
export interface AnswererParts {
  readonly image: SharedArrayBuffer;
  /** The reader slot of this thread. */
  readonly slot: number;
  readonly settings: SharedAnswerSettings;
  /** The memory of QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** The memory of RateLimit. Undefined if there is no limit. */
  readonly rateLimit?: SharedArrayBuffer | undefined;
  /** The memory of AmplificationLimit. Undefined if there is no limit. */
  readonly amplificationLimit?: SharedArrayBuffer | undefined;
  /** The memory of AskedMarks. Undefined if they are not used. */
  readonly asked?: SharedArrayBuffer | undefined;
  /** The memory of CountryTable. Undefined if every client gets the default edge sets. */
  readonly countries?: SharedArrayBuffer | undefined;
  /** The memory of ZoneCounts. Undefined if answers are not counted by zone. */
  readonly zoneCounts?: SharedArrayBuffer | undefined;
}

/** An answerer, and what a transport needs to use it. */
export interface OpenAnswerer {
  readonly answerer: GroupAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
}

/** A module like answer-query.ts. */
export interface AnswererModule {
  readonly Answerer: new (
    ...parameters: ConstructorParameters<typeof import('./answer-query.ts').Answerer>
  ) => GroupAnswerer;
}

export const ANSWERER = programUrl(new URL('./answer-query.ts', import.meta.url)).href;

export function openAnswerer(
  { Answerer }: AnswererModule,
  parts: AnswererParts,
  reportFailure: (error: unknown) => void,
): OpenAnswerer {
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
