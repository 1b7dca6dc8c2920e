// A thousand users of `/check/NAME`, and their effect on the checks of our customers' domains.

import { measureAskers } from '../checks/measure-askers.ts';
import { startParents } from '../checks/start-parents.ts';
import type { Part } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';

const MOST_COST = 1.05;

export const publicChecks: Part = {
  names: ['public_checks'],
  async run(options) {
    const parents = await startParents(options);
    try {
      say('a thousand at /check/NAME');
      const { domains, without, beside, statuses, seconds, cpuMillis } = await measureAskers(
        parents,
        options,
      );
      const times = without.map((rate, i) => rate / (beside[i] as number));
      const asks = Object.values(statuses).reduce((sum, each) => sum + each, 0);
      const answers = Object.entries(statuses).map(([status, each]) => `${count(each)} × ${status}`);
      return [
        {
          part: 'public_checks',
          title: 'Looks for everyone',
          blocks: [
            `A thousand people, each at an address of its own, ask \`POST /public/checks\` ten times a minute each for names that nobody has asked for: ` +
              `${fixed(asks / seconds, 0)} a second. Meanwhile one \`npm run workers\` on a core of its own checks ${count(domains)} domains that are due, from the first claim until the last is saved. ` +
              'The API, the askers, Postgres and the small internet share the other core.',
            table(
              ['', 'figure'],
              [
                ['checks/s without askers', count(median(without))],
                ['checks/s beside them', count(median(beside))],
                [
                  'time of a check beside them ÷ without, median of the pairs',
                  judged(median(times), MOST_COST, 2),
                ],
                ['the pairs', times.map((each) => fixed(each, 2)).join(', ')],
                ['CPU of the API for an ask, ms', fixed(cpuMillis, 2)],
                ['answers', answers.join(', ')],
              ],
            ),
          ],
          charts: [],
        },
      ];
    } finally {
      await parents.stop();
    }
  },
};
