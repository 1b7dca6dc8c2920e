// The delegation checker: the number of domains that one process observes per second, the cost of the queue, and the cost
// of finding that nothing is due.

import { measureAttack } from '../checks/measure-attack.ts';
import { measureObserving } from '../checks/measure-observing.ts';
import { measureQueue } from '../checks/measure-queue.ts';
import { measureScheduler } from '../checks/measure-scheduler.ts';
import { PARENT_ADDRESSES, PARENT_DELAY_MS, PARENT_ZONES } from '../checks/parents.ts';
import { startParents } from '../checks/start-parents.ts';
import type { Part } from '../part.ts';
import { say } from '../say.ts';

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
