// GET /changes: lists the changes of all domains that the account can see. Clients poll it to follow them.

import { z } from 'zod';
import { parseName } from '../../dns/name.ts';
import { countAccountChanges, listAccountChanges } from '../../store/records/load-changes.ts';
import { asStoreCaller } from '../callers/caller.ts';
import { account, route } from '../calls/route.ts';
import { answerChanges, changesQuery } from '../lists/page-changes.ts';
import { Change } from '../schemas/change.ts';

export const listChanges = route(account(), {
  method: 'GET',
  path: '/changes',
  operationId: 'listChanges',
  tag: 'Changes',
  summary: 'The changes of all domains that you can see, oldest first.',
  description:
    'To follow the log, call again with `after` set to the highest id that you have: later changes always have higher ids. It includes moved and deleted domains.',
  query: changesQuery('oldest'),
  response: z.array(Change),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { caller } = call;
    const { domains } = caller.key;
    const names = domains === null ? {} : { names: domains.map((name) => parseName(`${name}.`)) };
    const asking = asStoreCaller(caller);
    return answerChanges(db, call, {
      first: 'oldest',
      async load(page, filter) {
        const changes = await listAccountChanges(db, asking, { ...filter, ...names }, page);
        return changes.map((change) => ({
          change,
          apex: change.domainName,
          role: change.role,
          viewer: call.caller.account,
        }));
      },
      count: (filter) => countAccountChanges(db, asking, { ...filter, ...names }),
    });
  },
});
