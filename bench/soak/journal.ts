// The files of a run: one JSON object per line for each event and each sample.

import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../say.ts';

/**
 * Kinds that fail the run: `wrong` answers, `lost` edits, `unrecovered` faults, `crash` of a program, `refused` edits,
 * `misjudged` delegations, `unanswered` queries while nothing is broken, `stuck` domains.
 */
export const FAILURES = [
  'wrong',
  'lost',
  'unrecovered',
  'crash',
  'refused',
  'misjudged',
  'unanswered',
  'stuck',
] as const;
export type Failure = (typeof FAILURES)[number];

export interface SoakEvent {
  /** Seconds since the start of the run, without the time between pieces. */
  readonly at: number;
  readonly kind: Failure | 'fault' | 'recovered' | 'piece' | 'life';
  readonly text: string;
  /** Duration of a fault until everything worked again. */
  readonly seconds?: number;
}

export interface Journal {
  /** Starts the clock: the time in which a piece starts its programs does not count. */
  start(): void;
  event(kind: SoakEvent['kind'], text: string, more?: Partial<SoakEvent>): void;
  sample(sample: object): void;
  /** Number of failures in this piece. */
  readonly failures: number;
}

export function openJournal(directory: string, ranMs: number): Journal {
  mkdirSync(directory, { recursive: true });
  let startedMs: number | undefined;
  const now = () => (ranMs + (startedMs === undefined ? 0 : performance.now() - startedMs)) / 1000;
  const append = (file: string, line: object) =>
    appendFileSync(join(directory, file), `${JSON.stringify(line)}\n`);
  let failures = 0;
  return {
    start() {
      startedMs = performance.now();
    },
    event(kind, text, more = {}) {
      const isFailure = (FAILURES as readonly string[]).includes(kind);
      if (isFailure) failures++;
      append('events.jsonl', { at: round(now()), kind, text, ...more });
      say(`${isFailure ? 'FAILURE ' : ''}${kind}: ${text}`);
    },
    sample: (sample) => append('samples.jsonl', { at: round(now()), ...sample }),
    get failures() {
      return failures;
    },
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
