// Edge caches: purges at three edges, and pages of cached content of a domain with a million entries.

import { measureCache } from '../edge/measure-cache.ts';
import type { Part } from '../part.ts';
import { count, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median, percentile } from '../statistics.ts';

const ENTRIES = 1_000_000;
const PURGE_MS = 1000;

export const cache: Part = {
  names: ['cache'],
  async run(options) {
    const entries = options.zones ?? ENTRIES;
    say(`purges at three edges, then pages of ${count(entries)} entries`);
    const { purges, pages } = await measureCache(entries, options);
    return [
      {
        part: 'cache',
        title: 'Caches of edges',
        blocks: [
          `${count(purges.length)} purges of a URL, one after the other; from the call until the last of three edges has received it. ` +
            `The edges run in the process that measures.`,
          table(
            ['every edge has received a purge', 'ms'],
            [
              ['p50', percentile(purges, 0.5).toFixed(1)],
              ['p99', judged(percentile(purges, 0.99), PURGE_MS, 1)],
              ['maximum', Math.max(...purges).toFixed(1)],
            ],
          ),
          `Then one domain gets ${count(entries)} entries. Times are those of a page with its total over HTTP, medians of three. A statement may take 4.5 seconds.`,
          table(
            ['page', 'of', 'ms'],
            pages.map(({ what, total, ms }) => [what, count(total), median(ms).toFixed(0)]),
          ),
        ],
        charts: [],
        runs: 'one run',
      },
    ];
  },
};
