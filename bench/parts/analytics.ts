// The embedded analytics engine: 20,000 lines per second while it is killed and unavailable, and queries over 50 million
// lines.

import { loadavg } from 'node:os';
import { measureAnalytics } from '../analytics/measure-analytics.ts';
import type { Part } from '../part.ts';
import { count, judged, table } from '../report/table.ts';
import { say } from '../say.ts';

const LINES = 50_000_000;
const AWAY_MS = 60_000;
/** Of a try with fewer lines. */
const SHORT_AWAY_MS = 10_000;
const ROLLUP_SECONDS = 1;
const RAW_SECONDS = 5;
const GIB = 1024 ** 3;

export const analytics: Part = {
  names: ['analytics'],
  async run(options) {
    const lines = options.zones ?? LINES;
    say('three writers, 20,000 lines per second in total');
    const { ingest, makeSeconds, bytes, queries } = await measureAnalytics(
      lines,
      lines < LINES ? SHORT_AWAY_MS : AWAY_MS,
    );
    const lost = ingest.sent - ingest.stored;
    const rows = [
      ['lines that three writers sent', count(ingest.sent)],
      ['of these, missing or duplicate among the raw lines', judged(Math.abs(lost), 0, 0)],
      ['the same in the rollups', judged(Math.abs(ingest.sent - ingest.rolledUp), 0, 0)],
      ['duration of the outage of the killed engine, s', ingest.awaySeconds.toFixed(0)],
      [
        'from its return until no batch waited, including 10 s of further lines, s',
        ingest.catchUpSeconds.toFixed(0),
      ],
      ['batches that were repeated', count(ingest.repeats)],
      [
        `${count(lines)} lines of one domain over 30 days generated inside the engine, s`,
        makeSeconds.toFixed(0),
      ],
      ['total on disk, GiB', (bytes / GIB).toFixed(2)],
      ...queries.map(({ name, isRaw, seconds }) => [
        `${isRaw ? 'raw lines' : 'rollups'}: ${name}, s`,
        judged(seconds, isRaw ? RAW_SECONDS : ROLLUP_SECONDS),
      ]),
    ];
    return [
      {
        part: 'analytics',
        title: 'Analytics',
        blocks: [
          'Three writers send 20 000 lines per second in total to the embedded engine, one batch per second. Each keeps batches that are not stored yet, and repeats them with the same token. ' +
            `Queries cover 30 days; each figure is the slowest of three runs. Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}, on two cores.`,
          table(['', 'figure'], rows as string[][]),
        ],
        charts: [],
        runs: 'one run',
      },
    ];
  },
};
