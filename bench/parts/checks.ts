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
            `${PARENT_DELAY_MS} ms; every domain is asked for at two of the four addresses of its parent, and is delegated to us. At most ` +
            `50 questions a second go to one address, as by default: at ${PARENT_ADDRESSES} addresses that allows 1 600 checks a second of ` +
            'two questions each.',
          '### Observe and judge\n\nOne process on one core, without queue and Postgres; the walk from the root is in its cache. ' +
            '`dig +trace` begins at the root each time, and asks the domain’s own nameserver too.',
          observing,
          '### From due to saved\n\nOne `npm run workers` on one core: it claims due domains, brings them through the queue, checks and saves them. ' +
            'Postgres, Redis and the internet share the other core. From the first claim until the last check is saved, by Postgres.',
          queue,
          '### One account under silent parents\n\nAll its domains are due at once. Beside it, accounts create a domain twice a second in all, and ask for a ' +
            'check of it half a second later.',
          attack,
          '### A million domains, and nearly none is due',
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
      say('a thousand at /check/NAME');
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
            `A thousand people, each at an address of its own, ask \`POST /public/checks\` ten times a minute each for names that nobody has asked for: ` +
              `${fixed(asks / seconds, 0)} a second. At the same time, one \`npm run workers\` on a core of its own checks ${count(domains)} domains that are due, from the first claim until the last is saved. ` +
              'The API, the askers, Postgres and the small internet share the other core.',
            table(
              ['', 'figure'],
              [
                ['checks/s without askers', count(median(without))],
                ['checks/s with askers', count(median(during))],
                [
                  'time of a check with askers ÷ without, median of the pairs',
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
