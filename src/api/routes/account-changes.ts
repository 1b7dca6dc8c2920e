// GET /changes: all changes of the domains that an account sees, so that a client can follow them.

import { z } from 'zod';
import { parseName } from '../../dns/name.ts';
import { listAccountChanges } from '../../store/records/load-changes.ts';
import { asStoreCaller } from '../callers/caller.ts';
import { accountRoute } from '../calls/route.ts';
import { answerChanges, CHANGES_QUERY } from '../lists/page-changes.ts';
import { Change } from '../schemas/change.ts';

export const listChanges = accountRoute({
  method: 'GET',
  path: '/changes',
  operationId: 'listChanges',
  tag: 'Changes',
  summary: 'What was done to all domains that you see, oldest first.',
  description:
    'To follow it, ask again with `after` set to the highest id you have: no change ever comes in behind that. Moves of domains and deleted domains are part of it.',
  query: z.object(CHANGES_QUERY),
  response: z.array(Change),
  answerHeaders: ['Link'],
  run(call) {
    const { db } = call.api;
    const { caller } = call;
    const { after = 0 } = call.query;
    const { domains } = caller.key;
    const names = domains === null ? {} : { names: domains.map((name) => parseName(`${name}.`)) };
    return answerChanges(db, call, async (behind = 0, limit) => {
      const page = { after: Math.max(after, behind), limit, ...names };
      const changes = await listAccountChanges(db, asStoreCaller(caller), page);
      return changes.map((change) => ({ change, apex: change.domainName, role: change.role }));
    });
  },
});
