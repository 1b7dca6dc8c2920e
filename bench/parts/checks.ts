// The delegation checker: the number of domains that one process observes per second, the cost of the queue, and the cost
// of finding that nothing is due; and a thousand users of `/check/NAME`, and their effect on the checks of customers' domains.

import { measureAskers } from '../checks/measure-askers.ts';
import { measureAttack } from '../checks/measure-attack.ts';
import { measureObserving } from '../checks/measure-observing.ts';
import { measureQueue } from '../checks/measure-queue.ts';
import { measureScheduler } from '../checks/measure-scheduler.ts';
import { PARENT_ADDRESSES, PARENT_DELAY_MS, PARENT_ZONES } from '../checks/parents.ts';
import { startParents } from '../checks/start-parents.ts';
import type { Part } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';

export const checks: Part = {
  names: ['checks'],
  async run(options) {
    const parents = await startParents(options);
    let observing: string;
    let queue: string;
    let attack: string;
    try {
      say('observe and judge');
      observing = await measureObserving(parents, options);
      say('from due to saved');
      queue = await measureQueue(parents, options);
      say('an account under silent parents');
      attack = await measureAttack(parents, options);
    } finally {
      await parents.stop();
    }
    say('the schedule');
    const scheduler = await measureScheduler(options);
    return [
      {
        part: 'checks',
        title: 'Delegation checks',
        blocks: [
          `A small internet on loopback: a root and ${PARENT_ZONES} top-level zones at ${PARENT_ADDRESSES} addresses, which answer after ` +
            `${PARENT_DELAY_MS} ms; every domain is looked up at two of the four addresses of its parent, and is delegated to Zonefleet. At most ` +
            `50 queries per second are sent to one address, which is the default. With ${PARENT_ADDRESSES} addresses, that allows 1 600 checks per second of ` +
            'two queries each.',
          '### Observe and evaluate\n\nOne process on one core, without a queue and Postgres, and with the walk from the root in its cache. ' +
            '`dig +trace` starts at the root each time, and also queries the domain’s own nameserver.',
          observing,
          '### From due to saved\n\nOne workers process on one core claims due domains, passes them through the queue, checks them and saves the results. ' +
            'Postgres, Redis and the small internet share the other core. Times are from the first claim until the last check is saved, by the clock of Postgres.',
          queue,
          '### One account under silent parents\n\nAll its domains are due at the same time. Meanwhile, other accounts create two domains per second in total, and request a ' +
            'check of each half a second later.',
          attack,
          '### A million domains, almost none of them due',
          ...scheduler,
        ],
        charts: [],
      },
    ];
  },
};

const MOST_COST = 1.05;

export const publicChecks: Part = {
  names: ['public_checks'],
  async run(options) {
    const parents = await startParents(options);
    try {
      say('a thousand users of /check/NAME');
      const {
        domains,
        without,
        beside: during,
        statuses,
        seconds,
        cpuMillis,
      } = await measureAskers(parents, options);
      const times = without.map((rate, i) => rate / (during[i] as number));
      const asks = Object.values(statuses).reduce((sum, each) => sum + each, 0);
      const answers = Object.entries(statuses).map(([status, each]) => `${count(each)} × ${status}`);
      return [
        {
          part: 'public_checks',
          title: 'Public checks',
          blocks: [
            `A thousand people, each with its own address, call \`POST /public/checks\` ten times per minute for names that were not checked before: ` +
              `${fixed(asks / seconds, 0)} calls per second. Meanwhile, one workers process on its own core checks ${count(domains)} due domains, from the first claim until the last result is saved. ` +
              'The API, the users, Postgres and the small internet share the other core.',
            table(
              ['', 'figure'],
              [
                ['checks/s without users', count(median(without))],
                ['checks/s with users', count(median(during))],
                [
                  'time of a check with users ÷ without, median of the pairs',
                  judged(median(times), MOST_COST, 2),
                ],
                ['the pairs', times.map((each) => fixed(each, 2)).join(', ')],
                ['CPU of the API per call, ms', fixed(cpuMillis, 2)],
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
