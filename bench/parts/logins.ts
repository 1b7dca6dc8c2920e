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
    say('a thousand concurrent sign-ins');
    const measured = await measureLogins(options);
    const { quiet, meanwhile, statuses, seconds, bytesBefore, bytesMost } = measured;
    const answers = Object.entries(statuses).map(([status, times]) => `${count(times)} × ${status}`);
    const rows = [
      ['another call before, p50 and slowest, ms', `${at(quiet, 0.5)}, ${at(quiet, 1)}`],
      [`another call meanwhile (${count(meanwhile.length)} of them), p50, ms`, at(meanwhile, 0.5)],
      ['another call meanwhile, slowest, ms', judged(Math.max(...meanwhile), WORST_MS, 0)],
      [
        'memory of the API (PSS) before, and its maximum, MiB',
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
          `${count(measured.logins)} people sign in at the same time, each from its own address, with a wrong password. This is the most expensive case, because every ` +
            'admitted password is hashed. The API hashes one password at a time on each core but one (here it has one core, and hashes one), and 32 requests wait. Others get a 503 immediately and retry.',
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
