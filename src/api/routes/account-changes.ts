// GET /changes: all changes of the domains that an account sees, so that a client can follow them.

import { z } from 'zod';
import { parseName } from '../../dns/name.ts';
import { countAccountChanges, listAccountChanges } from '../../store/records/load-changes.ts';
import { asStoreCaller } from '../callers/caller.ts';
import { accountRoute } from '../calls/route.ts';
import { answerChanges, changesQuery } from '../lists/page-changes.ts';
import { Change } from '../schemas/change.ts';

export const listChanges = accountRoute({
  method: 'GET',
  path: '/changes',
  operationId: 'listChanges',
  tag: 'Changes',
  summary: 'What was done to all domains that you see, oldest first.',
  description:
    'To follow it, ask again with `after` set to the highest id you have: no change ever comes in behind that. Moves of domains and deleted domains are part of it.',
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
