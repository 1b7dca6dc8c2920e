// GET /domains/ns-sets: the nameservers that a domain may be delegated to.

import { loadAnswerSettings } from '../../store/postgres/answer-settings.ts';
import { accountRoute } from '../calls/route.ts';
import { NameserverSets } from '../schemas/nameservers.ts';

export const getNameserverSets = accountRoute({
  method: 'GET',
  path: '/domains/ns-sets',
  operationId: 'getNameserverSets',
  tag: 'Domains',
  summary: 'The accepted nameserver sets.',
  description: 'A domain is delegated to all names of one set and to no other name.',
  response: NameserverSets,
  async run({ api }) {
    const settings = await loadAnswerSettings(api.db);
    return (settings?.nameserverSets ?? []).map((set) => set.map((name) => name.replace(/\.$/, '')));
  },
});
