// The samples and events of a run, as they are in its files.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SoakEvent } from './journal.ts';
import type { ProcessSample } from './sample-fleet.ts';
import type { WatchCounts } from './watch-names.ts';

export interface LagSample {
  readonly node: string;
  readonly ms: number;
  /** True if a fault affected the node. */
  readonly isDisturbed: boolean;
}

/** All counts are of the piece so far. */
export interface Sample {
  /** Seconds since the start of the run. */
  readonly at: number;
  readonly piece: number;
  readonly faults: readonly string[];
  readonly processes: Readonly<Record<string, ProcessSample>>;
  /** By node, and `resolver`. */
  readonly answers: Readonly<Record<string, WatchCounts>>;
  readonly edits: number;
  readonly repeats: number;
  /** Measured since the last sample. */
  readonly lags: readonly LagSample[];
  /** Delegation checks of the fixed domains by verdict, in the whole run. */
  readonly checks: Readonly<Record<string, number>>;
  readonly databaseBytes: number;
}

export interface Run {
  readonly samples: readonly Sample[];
  readonly events: readonly SoakEvent[];
}

export function readRun(directory: string): Run {
  const lines = <T>(file: string): T[] => {
    const path = join(directory, file);
    if (!existsSync(path)) return [];
    const texts = readFileSync(path, 'utf8').split('\n');
    return texts.filter((text) => text !== '').map((text) => JSON.parse(text));
  };
  return { samples: lines<Sample>('samples.jsonl'), events: lines<SoakEvent>('events.jsonl') };
}
