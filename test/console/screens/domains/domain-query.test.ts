// The URL says what is listed, whatever stands in it; a row says in one word how its delegation is.

import { describe, expect, it } from 'vitest';
import {
  delegationLine,
  domainQuery,
  isFiltered,
} from '../../../../console/src/screens/domains/domain-query.ts';

describe('domainQuery', () => {
  it('asks for what the URL says', () => {
    expect(
      domainQuery({
        ...{ search: ' shop ', status: 'moved', mode: 'external', finding: 'STALE_DS', role: 'editor' },
        sort: '-name',
      }),
    ).toEqual({
      search: 'shop',
      status: 'moved',
      dns_mode: 'external',
      finding: 'STALE_DS',
      role: 'editor',
      sort: '-name',
    });
    expect(domainQuery({ status: 'open' }).status).toBe('pending,unverified,moved,disabled');
  });

  it('leaves out what the list does not know', () => {
    const query = { search: ' ', status: 'x', mode: '"', role: '1', sort: 'price', page: '2', other: 'y' };
    expect(domainQuery(query)).toEqual({ sort: 'name' });
  });
});

describe('isFiltered', () => {
  it('is about the filters, not about order and page', () => {
    expect(isFiltered({ sort: 'name', page: '2', cursor: 'x' })).toBe(false);
    expect(isFiltered({ status: 'open' })).toBe(true);
  });
});

describe('delegationLine', () => {
  const row = {
    status: 'pending' as const,
    dns_mode: 'managed' as const,
    svc_ns_sets: [['ns1.ours.example', 'ns2.ours.example']],
  };

  it('tells what the parent names', () => {
    expect(delegationLine(row).kind).toBe('unseen');
    expect(delegationLine({ ...row, current_ns: [] }).kind).toBe('not-delegated');
    expect(delegationLine({ ...row, current_ns: ['ns1.other.example'] })).toEqual({
      kind: 'elsewhere',
      servers: ['ns1.other.example'],
    });
    expect(delegationLine({ ...row, current_ns: ['ns1.ours.example'] }).kind).toBe('partly');
    expect(delegationLine({ ...row, status: 'active', current_ns: row.svc_ns_sets[0] ?? [] }).kind).toBe(
      'live',
    );
  });

  it('tells of domains that do not wait for a delegation', () => {
    expect(delegationLine({ ...row, dns_mode: 'external', status: 'unverified' }).kind).toBe('txt');
    expect(delegationLine({ ...row, dns_mode: 'external', status: 'active' }).kind).toBe('verified');
    expect(delegationLine({ ...row, status: 'banned' }).kind).toBe('banned');
    const reason = { code: 'not_delegated' as const, message: 'nobody delegated it' };
    expect(delegationLine({ ...row, status: 'disabled', status_reason: reason })).toMatchObject({
      kind: 'reason',
      reason: 'nobody delegated it',
    });
  });
});
