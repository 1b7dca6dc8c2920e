// The sections of RESULTS.md about a million zones.

import type { Section } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { mediansOf } from '../rounds.ts';
import { median } from '../statistics.ts';
import { DRAW_TITLES } from './scale-queries.ts';
import type { DrawnRuns, ScaleResults, Weight } from './scale-results.ts';

const RECIPE_TEXT =
  'Each zone has 12 records: SOA, 2 NS, 3 A, 2 CNAME, MX, and 3 TXT of 30, 40 and 110 characters.';
const SAME_FILE =
  'NSD and Knot read the same small file for every zone, so that they need not open a million files.';

const isOurs = ({ server }: { server: { name: string } }) => server.name === 'zonefleet';

export function millionSection({ set, drawn }: ScaleResults): Section {
  const cpuOf = ({ runs }: DrawnRuns) => mediansOf(runs).cpuMicros;
  const find = (wanted: DrawnRuns, change: Partial<DrawnRuns>) => {
    const { server, draw, beside } = { ...wanted, ...change };
    const is = (other: DrawnRuns) =>
      other.draw === draw && other.beside === beside && other.server === server;
    return drawn.find(is);
  };
  const ratio = (a: DrawnRuns | undefined, b: DrawnRuns | undefined) =>
    a === undefined || b === undefined ? Number.NaN : cpuOf(a) / cpuOf(b);
  const rows = drawn.map((each) => {
    const figures = mediansOf(each.runs);
    const ours = drawn.find(
      (other) => isOurs(other) && other.draw === each.draw && other.beside === each.beside,
    );
    const beside = isOurs(each) && each.beside !== undefined ? ` next to ${each.beside.title}` : '';
    const title = isOurs(each) ? `**${each.server.title}**${beside}` : each.server.title;
    const limit = isOurs(each) && each.draw === 'uniform' ? 1.4 : undefined;
    return [
      `${title}, ${DRAW_TITLES[each.draw]}`,
      count(figures.queriesPerSecond),
      fixed(figures.cpuMicros, 2),
      each.draw === 'ten' ? '' : judged(ratio(each, find(each, { draw: 'ten' })), limit),
      isOurs(each) ? '' : fixed(ratio(ours, each), 2),
    ];
  });
  return {
    part: 'million',
    title: `${count(set.recipe?.count ?? 0)} zones`,
    blocks: [
      `${RECIPE_TEXT} 65 % A, 15 % AAAA (which no name has), 5 % CNAME, 5 % names that do not exist, 10 % MX and TXT of the apex, ` +
        'without EDNS, about zones drawn in three ways.',
      table(['', 'q/s', 'CPU µs per query', '÷ ten zones', 'Zonefleet ÷ this'], rows),
    ],
    charts: [
      {
        name: 'million',
        title: `CPU per query, ${count(set.recipe?.count ?? 0)} zones queried evenly`,
        unit: 'µs',
        digits: 2,
        bars: drawn
          .filter((each, index) => {
            const first = drawn.findIndex(
              (other) => other.server === each.server && other.draw === each.draw,
            );
            return each.draw === 'uniform' && first === index;
          })
          .map((each) => ({ label: each.server.title, value: cpuOf(each), isOurs: isOurs(each) })),
      },
    ],
  };
}

export function memorySection({ set, weights }: ScaleResults): Section {
  const perRecord = (bytes: number | undefined) => (bytes ?? Number.NaN) / set.records;
  const rows = weights.map((weight: Weight) => [
    isOurs(weight) ? `**${weight.server.title}**` : weight.server.title,
    fixed(weight.pssBytes / 2 ** 20, 0),
    judged(perRecord(weight.pssBytes), isOurs(weight) ? 200 : undefined, 0),
    fixed(perRecord(weight.largestBytes), 0),
    isOurs(weight) ? judged(perRecord(weight.imageBytes), 120, 0) : '',
  ]);
  return {
    part: 'memory',
    title: `Memory of ${count(set.recipe?.count ?? 0)} zones`,
    blocks: [
      `${count(set.records)} records. ${RECIPE_TEXT} Memory is the proportional set size of all processes after a load that queried the zones. ${SAME_FILE}`,
      table(
        [
          '',
          'MiB',
          'bytes per record, all processes',
          'bytes per record, largest process',
          'bytes per record, image',
        ],
        rows,
      ),
    ],
    charts: [
      {
        name: 'memory',
        title: 'Bytes of memory per record, all processes',
        unit: '',
        digits: 0,
        bars: weights.map((weight) => ({
          label: weight.server.title,
          value: perRecord(weight.pssBytes),
          isOurs: isOurs(weight),
        })),
      },
    ],
  };
}

export function startSection({ set, times, small, before, peerStartMs }: ScaleResults): Section {
  const seconds = (ms: number) => ms / 1000;
  const row = (title: string, ms: readonly number[], limit?: number, msBefore: readonly number[] = []) => [
    title,
    judged(seconds(median(ms)), limit),
    ms.length,
    ...(before === undefined ? [] : [msBefore.length === 0 ? '' : fixed(seconds(median(msBefore)), 2)]),
  ];
  const smallTitle = `**Zonefleet**, ${count(small?.zones ?? 0)} zones, after kill -9`;
  const [then, smallThen] = [before?.times, before?.small];
  const rows = [
    ...(small === undefined ? [] : [row(smallTitle, small.times.killedMs, 0.5, smallThen?.killedMs)]),
    row('**Zonefleet**, after kill -9', times.killedMs, 2, then?.killedMs),
    row('**Zonefleet**, snapshot, in the page cache', times.warmMs, 5, then?.warmMs),
    row('**Zonefleet**, snapshot, on disk', times.coldMs, undefined, then?.coldMs),
    row('**Zonefleet**, from Postgres', [times.fromPostgresMs], 90),
    ...[...peerStartMs].map(([server, ms]) => row(server.title, [ms])),
  ];
  const head = ['', 's', 'starts', ...(before === undefined ? [] : [`s at ${before.commit}`])];
  const size =
    times.snapshotBytes === undefined
      ? 'No snapshot was written.'
      : `The size of the snapshot is ${fixed(times.snapshotBytes / 2 ** 20, 0)} MiB.`;
  return {
    part: 'start',
    title: `Start with ${count(set.recipe?.count ?? 0)} zones`,
    blocks: [
      'From the start of the process, or from kill -9, until the SOA of the last zone and of 49 others is answered, on one core. ' +
        `${size} ${SAME_FILE}`,
      table(head, rows),
    ],
    charts: [
      {
        name: 'start',
        title: 'First answer after a start',
        unit: 's',
        digits: 1,
        bars: [
          { label: 'Zonefleet, after kill -9', value: seconds(median(times.killedMs)), isOurs: true },
          { label: 'Zonefleet, snapshot', value: seconds(median(times.warmMs)), isOurs: true },
          { label: 'Zonefleet, Postgres', value: seconds(times.fromPostgresMs), isOurs: true },
          ...[...peerStartMs].map(([server, ms]) => ({ label: server.title, value: seconds(ms) })),
        ],
      },
    ],
  };
}
