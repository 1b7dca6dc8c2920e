// English texts of the history of a domain.

import { countsText, plural } from './figures.ts';

export const history = {
  back: 'All changes',
  only: 'Show',
  all: 'all changes',
  reload: 'Refresh',
  older: 'Show older changes',
  list: 'Changes, newest first',
  empty: 'No changes yet',
  emptyText: 'Every change to the domain is listed here, with its old and new values, and can be reverted.',
  sources: {
    api: 'edit',
    import: 'import',
    scan: 'record search',
    aname: 'ANAME update',
    acme: 'certificate',
    cli: 'command line',
    update: 'dynamic update',
    pdns: 'PowerDNS API',
    revert: 'revert',
    status: 'status',
  },
  you: 'You',
  somebody: 'Someone with access',
  account: (id: number | undefined) => `Account ${id ?? '?'}`,
  byKey: (who: string | undefined, key: number | undefined) =>
    `${who === undefined ? 'An' : `${who}, by an`} API key${key === undefined ? '' : ` (${key})`}`,
  byToken: 'The reseller',
  byTsigKey: (who: string | undefined) => `${who === undefined ? 'A' : `${who}, by a`} TSIG key`,
  byOperator: 'The operator',
  byService: 'The service',
  from: (address: string) => `from ${address}`,
  records: countsText,
  rules: (count: number) => plural(count, 'rule', 'rules'),
  rule: (op: 'create' | 'update' | 'delete', type: string, id: number) =>
    `Rule ${id} (${type}) ${op === 'create' ? 'added' : op === 'update' ? 'changed' : 'deleted'}`,
  newDomain: 'new',
  goneDomain: 'deleted',
  reverts: (id: number) => `reverts change ${id}`,
  at: 'When',
  serial: 'Zone serial',
  beforeAfter: 'Before and after',
  revert: 'Revert…',
  revertTitle: (id: number) => `Revert change ${id}`,
  revertText: 'This creates a new change that undoes the old one. You can revert that one, too.',
  revertNow: 'Revert',
  revertRules: 'Its rule changes are reverted, too.',
  later: (count: number) =>
    `${plural(count, 'record has', 'records have')} changed since then. Revert the later change to the same records first.`,
};
