// The figures of a run, from its samples and events.

import { median, percentile } from '../statistics.ts';
import { FAILURES, type Failure } from './journal.ts';
import { UNDISTURBED } from './plan-faults.ts';
import type { Run, Sample } from './samples.ts';

/** Memory and descriptors of the undisturbed programs may grow by this factor. */
export const GROWTH_LIMIT = 1.05;
/** More descriptors than this are a leak. Fewer are connections of a pool. */
const MORE_DESCRIPTORS = 2;
/** Shorter runs say nothing about growth. */
export const GROWTH_HOURS = 2;

export interface Growth {
  readonly label: string;
  /** Medians of the first and the last hour, or of the first and the last third of a run below three hours. */
  readonly first: number;
  readonly last: number;
  readonly largest: number;
}

export interface Summary {
  readonly hours: number;
  readonly pieces: number;
  readonly failures: Readonly<Record<Failure, number>>;
  readonly memory: readonly Growth[];
  readonly descriptors: readonly Growth[];
  readonly asked: number;
  readonly answered: number;
  readonly edits: number;
  readonly repeats: number;
  readonly checks: Readonly<Record<string, number>>;
  readonly lives: number;
  readonly faults: readonly { readonly text: string; readonly count: number }[];
  readonly recovery: { readonly medianSeconds: number; readonly longestSeconds: number };
  readonly lags: readonly {
    readonly node: string;
    readonly medianMs: number;
    readonly p99Ms: number;
    readonly longestMs: number;
    /** While a fault affected the node. */
    readonly longestDisturbedMs: number;
  }[];
  /** Cores in use by program, on average. */
  readonly cores: Readonly<Record<string, number>>;
  /** Undefined for a run that is too short to show growth. */
  readonly isFlat: boolean | undefined;
}

export function summarize({ samples, events }: Run): Summary {
  const hours = (samples.at(-1)?.at ?? 0) / 3600;
  const windowHours = Math.min(1, hours / 3);
  const first = samples.filter(({ at }) => at / 3600 <= windowHours);
  const last = samples.filter(({ at }) => at / 3600 >= hours - windowHours);
  const labels = [...new Set(samples.flatMap(({ processes }) => Object.keys(processes)))];
  const growthOf = (figure: 'pssBytes' | 'descriptors') =>
    labels.map((label) => {
      const valuesOf = (some: readonly Sample[]) =>
        some.flatMap(({ processes }) => processes[label]?.[figure] ?? []);
      return {
        label,
        first: median(valuesOf(first)),
        last: median(valuesOf(last)),
        largest: Math.max(...valuesOf(samples)),
      };
    });
  const memory = growthOf('pssBytes');
  const descriptors = growthOf('descriptors');
  const isUndisturbed = ({ label }: Growth) => (UNDISTURBED as readonly string[]).includes(label);
  const grows = ({ first, last }: Growth) => last / first > GROWTH_LIMIT;
  const leaks = (growth: Growth) => grows(growth) && growth.last - growth.first > MORE_DESCRIPTORS;
  const ends = lastOfPieces(samples);
  const total = (of: (sample: Sample) => number) => ends.reduce((sum, sample) => sum + of(sample), 0);
  const counts = (key: 'asked' | 'answered') =>
    total(({ answers }) => Object.values(answers).reduce((sum, each) => sum + each[key], 0));
  const recovered = events.filter(({ kind }) => kind === 'recovered').map(({ seconds = 0 }) => seconds);
  return {
    hours,
    pieces: ends.length,
    failures: Object.fromEntries(
      FAILURES.map((failure) => [failure, events.filter(({ kind }) => kind === failure).length]),
    ) as Record<Failure, number>,
    memory,
    descriptors,
    asked: counts('asked'),
    answered: counts('answered'),
    edits: total(({ edits }) => edits),
    repeats: total(({ repeats }) => repeats),
    checks: samples.at(-1)?.checks ?? {},
    lives: events.filter(({ kind }) => kind === 'life').length,
    faults: countFaults(events.filter(({ kind }) => kind === 'fault').map(({ text }) => text)),
    recovery: { medianSeconds: median(recovered), longestSeconds: Math.max(...recovered, 0) },
    lags: summarizeLags(samples),
    cores: Object.fromEntries(labels.map((label) => [label, coresOf(samples, label)])),
    isFlat:
      hours < GROWTH_HOURS
        ? undefined
        : !memory.filter(isUndisturbed).some(grows) && !descriptors.filter(isUndisturbed).some(leaks),
  };
}

/** True if nothing failed, and memory and descriptors did not grow. */
export function hasPassed({ failures, isFlat, edits, answered }: Summary): boolean {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  return failed === 0 && isFlat !== false && edits > 0 && answered > 0;
}

function lastOfPieces(samples: readonly Sample[]): Sample[] {
  return samples.filter((sample, i) => samples[i + 1]?.piece !== sample.piece);
}

function countFaults(texts: readonly string[]): { text: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const kind = text.replace(/ for .*/, '');
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort().map(([text, count]) => ({ text, count }));
}

function summarizeLags(samples: readonly Sample[]): Summary['lags'] {
  const all = samples.flatMap(({ lags }) => lags);
  return [...new Set(all.map(({ node }) => node))].sort().map((node) => {
    const of = (isDisturbed: boolean) =>
      all.filter((lag) => lag.node === node && lag.isDisturbed === isDisturbed).map(({ ms }) => ms);
    const usual = of(false);
    return {
      node,
      medianMs: median(usual),
      p99Ms: percentile(usual, 0.99),
      longestMs: Math.max(...usual, 0),
      longestDisturbedMs: Math.max(...of(true), 0),
    };
  });
}

/** Between neighbouring samples of the same process. */
function coresOf(samples: readonly Sample[], label: string): number {
  let cpuSeconds = 0;
  let seconds = 0;
  for (const [i, sample] of samples.entries()) {
    const before = samples[i - 1]?.processes[label];
    const after = sample.processes[label];
    if (before === undefined || before.pid !== after?.pid) continue;
    cpuSeconds += Math.max(0, after.cpuSeconds - before.cpuSeconds);
    seconds += sample.at - (samples[i - 1] as Sample).at;
  }
  return seconds === 0 ? 0 : cpuSeconds / seconds;
}
