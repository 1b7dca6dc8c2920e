// Writes the report of a run and its charts into the directory of the run.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { count, fixed, table } from '../report/table.ts';
import { median } from '../statistics.ts';
import type { SoakEvent } from './journal.ts';
import { drawLineChart, type Line, type LineChart } from './line-chart.ts';
import { readRun, type Sample } from './samples.ts';
import { GROWTH_HOURS, GROWTH_LIMIT, type Growth, hasPassed, type Summary, summarize } from './summary.ts';

const MIB = 2 ** 20;
const SHOWN_FAILURES = 50;

export function writeReport(directory: string): Summary {
  const run = readRun(directory);
  const summary = summarize(run);
  const bands = bandsOf(run.events);
  for (const [name, chart] of Object.entries(chartsOf(run.samples, bands)))
    writeFileSync(join(directory, `${name}.svg`), drawLineChart(chart));
  writeFileSync(join(directory, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeFileSync(join(directory, 'RESULTS.md'), printReport(summary, run.events));
  return summary;
}

function printReport(summary: Summary, events: readonly SoakEvent[]): string {
  const { hours, pieces, failures, lags, recovery } = summary;
  const failed = events.filter(({ kind }) => kind in failures);
  const growth = (rows: readonly Growth[], unit: number, digits: number) =>
    table(
      ['program', 'first', 'last', 'last ÷ first', 'largest'],
      rows.map(({ label, first, last, largest }) => [
        label,
        fixed(first / unit, digits),
        fixed(last / unit, digits),
        fixed(last / first, 3),
        fixed(largest / unit, digits),
      ]),
    );
  const flat = { true: 'yes', false: '**no**', undefined: `needs ${GROWTH_HOURS} hours` }[
    String(summary.isFlat)
  ];
  return `${[
    '# Soak',
    `${fixed(hours, 2)} hours in ${pieces} pieces: **${hasPassed(summary) ? 'passed' : 'failed'}**. Memory and descriptors flat (≤ ${GROWTH_LIMIT} for ns1, api-1 and workers-1, which no fault ends): ${flat}.`,
    table(
      ['', ''],
      [
        ...Object.entries(failures).map(([kind, number]) => [kind, number]),
        ['queries', count(summary.asked)],
        ['answers', count(summary.answered)],
        ['confirmed edits', count(summary.edits)],
        ['API calls repeated because of a fault', count(summary.repeats)],
        ['domains created, signed and deleted', summary.lives],
        ...Object.entries(summary.checks).map(([verdict, number]) => [`checks: ${verdict}`, number]),
        ['faults', summary.faults.reduce((sum, fault) => sum + fault.count, 0)],
        ['recovery after a fault, median s', fixed(recovery.medianSeconds, 1)],
        ['recovery after a fault, longest s', fixed(recovery.longestSeconds, 1)],
      ],
    ),
    '## Memory (PSS, MiB)',
    'Medians of the first and the last hour (or third, if that is shorter).',
    growth(summary.memory, MIB, 1),
    '![memory](memory.svg)',
    '## Descriptors',
    growth(summary.descriptors, 1, 0),
    '![descriptors](descriptors.svg)',
    '## From an edit to its answer',
    table(
      ['node', 'median ms', '99 % ms', 'longest ms', 'longest during a fault, s'],
      lags.map((lag) => [
        lag.node,
        fixed(lag.medianMs, 0),
        fixed(lag.p99Ms, 0),
        fixed(lag.longestMs, 0),
        fixed(lag.longestDisturbedMs / 1000, 1),
      ]),
    ),
    '![lag](lag.svg)',
    '## Answers',
    '![answers](answers.svg)',
    '## Processor time',
    table(
      ['program', 'cores'],
      Object.entries(summary.cores).map(([label, cores]) => [label, fixed(cores, 3)]),
    ),
    '## Faults',
    table(
      ['fault', 'times'],
      summary.faults.map((fault) => [fault.text, fault.count]),
    ),
    '## Failures',
    failed.length === 0
      ? 'None.'
      : failed
          .slice(0, SHOWN_FAILURES)
          .map(({ at, kind, text }) => `- ${fixed(at / 3600, 3)} h, ${kind}: ${text}`)
          .join('\n'),
  ].join('\n\n')}\n`;
}

function chartsOf(samples: readonly Sample[], bands: LineChart['bands']): Record<string, LineChart> {
  const labels = [...new Set(samples.flatMap(({ processes }) => Object.keys(processes)))];
  const ofProcesses = (figure: 'pssBytes' | 'descriptors', unit: number): Line[] =>
    labels.map((label) => ({
      label,
      points: samples.flatMap(({ at, processes }) => {
        const value = processes[label]?.[figure];
        return value === undefined ? [] : [[at / 3600, value / unit] as const];
      }),
    }));
  const nodes = [...new Set(samples.flatMap(({ lags }) => lags.map(({ node }) => node)))].sort();
  return {
    memory: { title: 'Memory', unit: 'PSS, MiB', lines: ofProcesses('pssBytes', MIB), bands },
    descriptors: { title: 'Open descriptors', unit: '', lines: ofProcesses('descriptors', 1), bands },
    lag: {
      title: 'From an edit to its answer',
      unit: 'ms',
      isLogarithmic: true,
      bands,
      lines: nodes.map((node) => ({
        label: node,
        points: samples.flatMap(({ at, lags }) => {
          const own = lags.filter((lag) => lag.node === node).map(({ ms }) => ms);
          return own.length === 0 ? [] : [[at / 3600, median(own)] as const];
        }),
      })),
    },
    answers: { title: 'Answers and edits', unit: 'per second', lines: rates(samples), bands },
  };
}

function rates(samples: readonly Sample[]): Line[] {
  const servers = Object.keys(samples[0]?.answers ?? {});
  const line = (label: string, of: (sample: Sample) => number): Line => ({
    label,
    points: samples.flatMap((sample, i) => {
      const before = samples[i - 1];
      if (before === undefined || before.piece !== sample.piece) return [];
      return [[sample.at / 3600, (of(sample) - of(before)) / (sample.at - before.at)] as const];
    }),
  });
  return [
    ...servers.map((server) => line(server, ({ answers }) => answers[server]?.answered ?? 0)),
    line('edits', ({ edits }) => edits),
  ];
}

/** From the beginning of each fault until everything worked again. */
function bandsOf(events: readonly SoakEvent[]): (readonly [number, number])[] {
  const bands: (readonly [number, number])[] = [];
  let from: number | undefined;
  for (const { kind, at } of events) {
    if (kind === 'fault') from ??= at / 3600;
    if (kind !== 'recovered' || from === undefined) continue;
    bands.push([from, at / 3600]);
    from = undefined;
  }
  return bands;
}
