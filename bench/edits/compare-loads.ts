// The load alternately with and without edits, and the effect of edits on it.

import type { BenchOptions } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { interleave, type Medians, mediansOf, type Run } from '../rounds.ts';
import { median } from '../statistics.ts';

export interface ComparedLoads {
  readonly quiet: Medians;
  readonly busy: Medians;
  readonly changesPerSecond: number;
}

/** `runEdited` also returns the changes per second made meanwhile. */
export async function compareLoads(
  options: BenchOptions,
  runQuiet: () => Promise<Run>,
  runEdited: () => Promise<{ run: Run; changesPerSecond: number }>,
): Promise<ComparedLoads> {
  await runEdited(); // warm-up: code runs slowly at first
  const rates: number[] = [];
  const quiet = { label: 'without edits' };
  const busy = { label: 'with edits' };
  const runs = await interleave([quiet, busy], options, async (wanted) => {
    if (wanted === quiet) return runQuiet();
    const { run, changesPerSecond } = await runEdited();
    rates.push(changesPerSecond);
    return run;
  });
  return {
    quiet: mediansOf(runs.get(quiet) ?? []),
    busy: mediansOf(runs.get(busy) ?? []),
    changesPerSecond: median(rates),
  };
}

export interface LoadLimits {
  readonly cpu?: number;
  readonly p999?: number;
}

export function comparedTable(
  { quiet, busy, changesPerSecond }: ComparedLoads,
  limits: LoadLimits = {},
): string {
  const row = (label: string, { queriesPerSecond, cpuMicros, latency }: Medians) => [
    label,
    count(queriesPerSecond),
    fixed(cpuMicros, 2),
    fixed(latency?.p50Ms, 3),
    fixed(latency?.p99Ms, 3),
    fixed(latency?.p999Ms, 3),
  ];
  const ratio = (key: 'p50Ms' | 'p99Ms' | 'p999Ms') =>
    (busy.latency?.[key] ?? Number.NaN) / (quiet.latency?.[key] ?? Number.NaN);
  return table(
    ['', 'q/s', 'CPU µs per query', 'p50 ms', 'p99 ms', 'p99.9 ms'],
    [
      row('without edits', quiet),
      row(`with ${count(changesPerSecond)} changes per second`, busy),
      [
        'times as much',
        '',
        judged(busy.cpuMicros / quiet.cpuMicros, limits.cpu),
        fixed(ratio('p50Ms'), 2),
        fixed(ratio('p99Ms'), 2),
        judged(ratio('p999Ms'), limits.p999),
      ],
    ],
  );
}
