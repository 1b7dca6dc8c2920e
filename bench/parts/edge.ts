// Edges that follow an API: a snapshot of 100,000 domains for three of them, changes of rules, and edges that were
// disconnected.

import { measureEdges } from '../edge/measure-edges.ts';
import type { Part } from '../part.ts';
import { count, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { percentile } from '../statistics.ts';

const DOMAINS = 100_000;
const SNAPSHOT_SECONDS = 30;
const CHANGE_MS = 250;
const MIB = 1024 * 1024;

export const edge: Part = {
  names: ['edge'],
  async run(options) {
    const domains = options.zones ?? DOMAINS;
    say(`${count(domains)} domains, three edges`);
    const measured = await measureEdges(domains, options);
    const { snapshotSeconds, snapshotBytes, bytesBefore, bytesMost, changes } = measured;
    const rows = [
      ['every edge has its first snapshot after, s', judged(snapshotSeconds, SNAPSHOT_SECONDS)],
      ['one snapshot, MiB', (snapshotBytes / MIB).toFixed(1)],
      [
        'memory of the API (PSS) before, and its maximum meanwhile, MiB',
        `${count(bytesBefore / MIB)}, ${count(bytesMost / MIB)}`,
      ],
      ['changed rule, from the call to the last edge, p50, ms', percentile(changes, 0.5).toFixed(1)],
      ['the same, p99, ms', judged(percentile(changes, 0.99), CHANGE_MS, 1)],
      [
        `edges that were offline while ${count(measured.changedMeanwhile)} domains changed are up to date after, s`,
        measured.backSeconds.toFixed(2),
      ],
      ['lines that each of them received', count(measured.backLines)],
    ] as const;
    return [
      {
        part: 'edge',
        title: 'Edges',
        blocks: [
          `${count(measured.domains)} domains, each with a proxied record and a rule. ${measured.edges} edges receive their first snapshot at the same time. ` +
            `Then ${count(changes.length)} calls of the API change a rule, one after the other.`,
          table(['', 'figure'], rows),
        ],
        charts: [],
        runs: 'one run',
      },
    ];
  },
};
