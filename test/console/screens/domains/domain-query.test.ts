// The URL says what is listed, whatever stands in it; a row says in one word how its delegation is.

import { describe, expect, it } from 'vitest';
import {
  delegationLine,
  domainQuery,
  isFiltered,
} from '../../../../console/src/screens/domains/domain-query.ts';

describe('domainQuery', () => {
  it('asks for what the URL says', () => {
    const same = { status: 'moved', finding: 'STALE_DS', role: 'editor', sort: '-name' };
    expect(domainQuery({ ...same, search: ' shop ', mode: 'external' })).toEqual({
      ...same,
      search: 'shop',
      dns_mode: 'external',
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

  const reason = { code: 'not_delegated' as const, message: 'nobody delegated it' };

  it.each<[Partial<Parameters<typeof delegationLine>[0]>, object]>([
    [{}, { kind: 'unseen' }],
    [{ current_ns: [] }, { kind: 'not-delegated' }],
    [{ current_ns: ['ns1.other.example'] }, { kind: 'elsewhere', servers: ['ns1.other.example'] }],
    [{ current_ns: ['ns1.ours.example'] }, { kind: 'partly' }],
    [{ status: 'active', current_ns: ['ns1.ours.example', 'ns2.ours.example'] }, { kind: 'live' }],
    [{ dns_mode: 'external', status: 'unverified' }, { kind: 'txt' }],
    [{ dns_mode: 'external', status: 'active' }, { kind: 'verified' }],
    [{ status: 'banned' }, { kind: 'banned' }],
    [
      { status: 'disabled', status_reason: reason },
      { kind: 'reason', reason: 'nobody delegated it' },
    ],
  ])('of a domain with %j is %j', (changes, line) => {
    expect(delegationLine({ ...row, ...changes })).toMatchObject(line);
  });
});
