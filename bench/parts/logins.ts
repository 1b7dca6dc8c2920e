// A thousand concurrent sign-ins, and their effect on other calls.

import { measureLogins } from '../logins/measure-logins.ts';
import type { Part } from '../part.ts';
import { count, judged, table } from '../report/table.ts';
import { say } from '../say.ts';

const WORST_MS = 500;
const MIB = 1024 * 1024;

export const logins: Part = {
  names: ['logins'],
  async run(options) {
    say('a thousand at once');
    const measured = await measureLogins(options);
    const { quiet, meanwhile, statuses, seconds, bytesBefore, bytesMost } = measured;
    const answers = Object.entries(statuses).map(([status, times]) => `${count(times)} × ${status}`);
    const rows = [
      ['another call before, p50 and worst, ms', `${at(quiet, 0.5)}, ${at(quiet, 1)}`],
      [`another call meanwhile (${count(meanwhile.length)} of them), p50, ms`, at(meanwhile, 0.5)],
      ['another call meanwhile, worst, ms', judged(Math.max(...meanwhile), WORST_MS, 0)],
      [
        'memory of the API (PSS) before, and at most, MiB',
        `${count(bytesBefore / MIB)}, ${count(bytesMost / MIB)}`,
      ],
      ['all are answered after, s', seconds.toFixed(2)],
      ['answers', answers.join(', ')],
    ] as const;
    return [
      {
        part: 'logins',
        title: 'Sign-ins',
        blocks: [
          `${count(measured.logins)} people sign in at the same moment, each from an address of its own, with a wrong password: the dearest case, since all of ` +
            'it is hashed that gets a turn. One is hashed at a time for each core but one (here the API has one core: one), and 32 wait; the others get a 503 at once and try again.',
          table(['', 'figure'], rows),
        ],
        charts: [],
      },
    ];
  },
};

function at(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number).toFixed(1);
}
