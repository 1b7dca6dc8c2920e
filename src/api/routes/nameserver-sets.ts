// GET /domains/ns-sets: lists the nameserver sets that a domain may be delegated to. With a pool, this is the account's own
// set, which the call assigns if the account has none.

import type { Name } from '../../dns/name.ts';
import { accountNameserverSet } from '../../store/nameservers/pool-sets.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { account, route } from '../calls/route.ts';
import { NameserverSets } from '../schemas/nameservers.ts';

export const getNameserverSets = route(account(), {
  method: 'GET',
  path: '/domains/ns-sets',
  operationId: 'getNameserverSets',
  tag: 'Domains',
  summary: 'The accepted nameserver sets.',
  description:
    'A domain is delegated to all names of one set and to no other name. Where each account has a set of its own, it is that one.',
  response: NameserverSets,
  async run({ api, caller }) {
    const own = await inTransaction(api.db, (trx) => accountNameserverSet(trx, caller.account.id));
    const sets = own === undefined ? (await loadPublishSettings(api.db)).nameserverSets : [own.names];
    return sets.map((set: readonly Name[]) => set.map(printWithoutDot));
  },
});
