// The table of one comparison: a row per server, with our CPU time relative to it.

import { type Medians, mediansOf, type Run } from '../rounds.ts';
import type { Contestant } from '../servers/all.ts';
import type { ServerName } from '../servers/server.ts';
import type { Bar } from './chart.ts';
import { type Cell, count, fixed, judged, table } from './table.ts';

/** Maximum ratio of Zonefleet's processor time to that of the server. */
export type Limits = Partial<Record<ServerName, number>>;

export function comparisonTable(runs: ReadonlyMap<Contestant, readonly Run[]>, limits: Limits = {}): string {
  const medians = new Map([...runs].map(([contestant, list]) => [contestant, mediansOf(list)]));
  const ours = oursOf(medians);
  const rows = [...medians].map(([{ server }, figures]): Cell[] => {
    const isOurs = server.name === 'zonefleet';
    const ratio = (ours?.cpuMicros ?? Number.NaN) / figures.cpuMicros;
    return [
      isOurs ? `**${server.title}**` : server.title,
      count(figures.queriesPerSecond),
      fixed(figures.cpuMicros, 2),
      `${fixed(figures.lowestCpuMicros, 2)}–${fixed(figures.highestCpuMicros, 2)}`,
      isOurs ? '' : judged(ratio, limits[server.name]),
      fixed(figures.answerOctets, 0),
      count(figures.lost),
    ];
  });
  return table(
    ['', 'q/s', 'CPU µs per query', 'lowest–highest', 'Zonefleet ÷ this', 'octets per answer', 'lost'],
    rows,
  );
}

export function cpuBars(runs: ReadonlyMap<Contestant, readonly Run[]>): Bar[] {
  return [...runs].map(([{ server }, list]) => ({
    label: server.title,
    value: mediansOf(list).cpuMicros,
    isOurs: server.name === 'zonefleet',
  }));
}

function oursOf(medians: ReadonlyMap<Contestant, Medians>): Medians | undefined {
  return [...medians].find(([{ server }]) => server.name === 'zonefleet')?.[1];
}
