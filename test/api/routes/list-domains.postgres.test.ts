import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { DomainListItem } from '../../../src/api/schemas/domain-list-item.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { saveMembership } from '../../support/database/memberships.ts';

const api = sharedTestApi();
const NAMES = ['alpha.test', 'beta.test', 'delta.test', 'gamma.test', 'xn--bcher-kva.test'];

beforeAll(async () => {
  for (const name of ['gamma.test', 'bücher.test', 'alpha.test', 'delta.test', 'beta.test']) {
    await api.makeDomain(name, { dnsMode: name === 'delta.test' ? 'external' : 'managed' });
  }
  const shared = await api.ask('POST', '/domains/', { as: 'stranger', body: { name: 'shared.test' } });
  await saveMembership(api.db, shared.body.id, api.accountIds.viewer, 'editor');
  await api.ask('POST', '/domains/', { as: 'stranger', body: { name: 'strange.test' } });
  const gone = await api.makeDomain('gone.test');
  await api.ask('DELETE', `/domains/${gone.unicode}`);
});

const list = (query = '', as = 'owner') => api.ask('GET', `/domains/${query}`, { as });
const namesOf = ({ status, body }: { status: number; body: { name: string }[] }) => {
  expect(status).toBe(200);
  return body.map(({ name }) => name);
};
const names = async (query = '', as = 'owner') => namesOf(await list(query, as));

describe('GET domains', () => {
  it('contains the domains that the account owns or shares', async () => {
    expect(await names()).toEqual(NAMES);
    expect(await names('', 'viewer')).toEqual([...NAMES.slice(0, 4), 'shared.test', 'xn--bcher-kva.test']);
    expect(await names('', 'stranger')).toEqual(['shared.test', 'strange.test']);
    expect((await names('', 'operator')).length).toBe(7);
    expect((await list('', 'svc_nobody')).status).toBe(401);
    expect((await api.ask('GET', '/domains')).status).toBe(404);
  });

  it('contains domains with their certificates and, for the owner, subscriptions', async () => {
    const { body, headers } = await list();
    expect(headers['content-type']).toMatch(/^application\/json/);
    for (const item of body) {
      expect(DomainListItem.strict().parse(item)).toEqual(item);
      expect(item.ssl).toEqual({ status: 'none' });
      expect(item.subscription).toMatchObject({
        domain_id: item.id,
        status: 'active',
        plan: { slug: 'pro' },
      });
      const { ssl: _ssl, subscription: _subscription, records, changed_at: changedAt, ...domain } = item;
      expect(records).toBe(0);
      expect(Date.parse(changedAt)).toBeGreaterThanOrEqual(Date.parse(item.created_at));
      const single = (await api.ask('GET', `/domains/${item.name}`)).body;
      if (domain.verification) {
        const { seconds_remaining: _seconds, ...known } = domain.verification;
        expect(single.verification).toMatchObject(known); // only the single domain has the replies of servers
        domain.verification = single.verification;
      }
      expect(single).toEqual(domain);
    }
    for (const item of (await list('', 'viewer')).body) expect(item).not.toHaveProperty('subscription');
  });

  it('contains the number of records and the time of the last change, and is filtered by findings', async () => {
    const before = (await list('?search=alpha.test')).body[0];
    const record = { name: 'www', type: 'A', destination: '192.0.2.7', proxied: false };
    expect((await api.ask('POST', '/domains/alpha.test/records/', { body: record })).status).toBe(200);
    const [changed] = (await list('?search=LPHA.t')).body;
    expect(changed.records).toBe(1);
    expect(Date.parse(changed.changed_at)).toBeGreaterThan(Date.parse(before.changed_at));
    expect((await api.ask('PUT', '/domains/alpha.test', { body: changed })).status).toBe(200);

    await sql`update domains set findings = '[{"code": "STALE_DS", "message": "x"}]' where name = 'beta.test.'`.execute(
      api.db,
    );
    expect(await names('?finding=STALE_DS')).toEqual(['beta.test']);
    expect(await names('?finding=STALE_DS&search=alpha')).toEqual([]);
    expect(await names('?finding=NS_EXTRA')).toEqual([]);
    expect(await names('?finding=STALE_DS', 'viewer')).toEqual(['beta.test']);
    expect(await names('?finding=STALE_DS', 'stranger')).toEqual([]);
    const { headers } = await list('?finding=STALE_DS&limit=1&count=true');
    expect(headers['x-total-count']).toBe('1');
    await sql`update domains set findings = '[]' where name = 'beta.test.'`.execute(api.db);
    await api.ask(
      'DELETE',
      `/domains/alpha.test/records/${(await api.ask('GET', '/domains/alpha.test/records/')).body[0].id}`,
    );
  });

  it('contains no subscription if no plan is active', async () => {
    const bare = await api.makeDomain('bare.test');
    await setPlan(api.db, { domainId: bare.id, planSlug: null });
    const [item] = (await list('?search=bare')).body;
    expect(item.name).toBe('bare.test');
    expect(item).not.toHaveProperty('subscription');
    await api.ask('DELETE', '/domains/bare.test');
  });

  it('contains the domains of a narrowed key', async () => {
    const key = await api.makeKey({ domains: ['beta.test', 'strange.test', 'xn--bcher-kva.test'] });
    expect(await names('', key)).toEqual(['beta.test', 'xn--bcher-kva.test']);
    const { headers } = await list('?count=true', key);
    expect(headers['x-total-count']).toBe('2');
  });
});

describe('filters', () => {
  it.each([
    ['?search=ta', ['beta.test', 'delta.test']],
    ['?search=ALPHA', ['alpha.test']],
    ['?search=B%C3%9CCH', ['xn--bcher-kva.test']],
    ['?search=bu%CC%88ch', ['xn--bcher-kva.test']],
    ['?search=%25', []],
    ['?search=', NAMES],
    ['?status=unverified', ['delta.test']],
    ['?status=active,unverified', ['delta.test']],
    ['?status=pending, unverified', NAMES],
    ['?dns_mode=external', ['delta.test']],
    ['?dns_mode=managed&search=ta', ['beta.test']],
    ['?role=owner', NAMES],
  ])('%s', async (query, expected) => {
    expect(await names(query.replace(' ', '%20'))).toEqual(expected);
    const page = await list(`${query.replace(' ', '%20')}&limit=100&count=true`);
    expect(namesOf(page)).toEqual(expected);
    expect(page.headers['x-total-count']).toBe(String(expected.length));
  });

  it('by the role of the account', async () => {
    expect(await names('?role=editor', 'viewer')).toEqual(['shared.test']);
    expect(await names('?role=viewer', 'viewer')).toEqual(NAMES);
    expect(await names('?role=owner', 'viewer')).toEqual([]);
    expect((await names('?role=owner', 'operator')).length).toBe(7);
  });
});

describe('orders and pages', () => {
  it.each([
    ['name', NAMES],
    ['-name', NAMES.toReversed()],
    ['created_at', ['gamma.test', 'xn--bcher-kva.test', 'alpha.test', 'delta.test', 'beta.test']],
    ['-created_at', ['beta.test', 'delta.test', 'alpha.test', 'xn--bcher-kva.test', 'gamma.test']],
    ['-status', ['delta.test', 'beta.test', 'alpha.test', 'xn--bcher-kva.test', 'gamma.test']],
    ['next_check_at', undefined],
    ['-next_check_at', undefined],
  ])('sort=%s, as a whole and in pages', async (sort, expected) => {
    const whole = await names(`?sort=${sort}`);
    if (expected !== undefined) expect(whole).toEqual(expected);
    expect(whole.toSorted()).toEqual(NAMES);
    const paged: string[] = [];
    let next: string | undefined = `/domains/?sort=${sort}&limit=2&count=true`;
    while (next !== undefined) {
      const page = await api.ask('GET', next);
      paged.push(...namesOf(page));
      expect(page.headers['x-total-count']).toBe('5');
      next = /<([^>]+)>; rel="next"/.exec(String(page.headers.link ?? ''))?.[1];
    }
    expect(paged).toEqual(whole);
  });

  it('skip items by offset, with a limit or without', async () => {
    expect(await names('?limit=2&offset=1')).toEqual(NAMES.slice(1, 3));
    expect(await names('?limit=2&offset=9')).toEqual([]);
    expect(await names('?offset=3')).toEqual(NAMES.slice(3));
    const page = await list('?limit=2&offset=1');
    const next = /^<([^>]+)>/.exec(String(page.headers.link))?.[1] as string;
    expect(next).not.toContain('offset');
    expect(namesOf(await api.ask('GET', next))).toEqual(NAMES.slice(3));
  });

  it('continue from a cursor to the end without a limit', async () => {
    const { headers } = await list('?limit=2');
    const next = new URL(/^<([^>]+)>/.exec(String(headers.link))?.[1] as string, 'http://api');
    next.searchParams.delete('limit');
    expect(namesOf(await api.ask('GET', next.pathname + next.search))).toEqual(NAMES.slice(2));
  });

  it.each([
    ['offset', ['-1', '2147483648']],
    ['sort', ['', 'id', 'NAME']],
    ['status', ['Activ', 'active,']],
    ['dns_mode', ['both']],
    ['finding', ['NO_SUCH']],
    ['role', ['nobody']],
    ['cursor', ['x', '%7B%7D', 'W10', 'e30', 'a'.repeat(3000)]],
    ['search', ['a'.repeat(254), '%00']],
  ])('responds 400 to a wrong %s', async (name, values) => {
    for (const value of values) {
      const { status, body } = await list(`?limit=1&${name}=${value}`);
      expect([value, status, body.code, body.fields?.[0]?.field]).toEqual([
        value,
        400,
        'validation_failed',
        name,
      ]);
    }
  });

  it('respond 400 to a repeated parameter and to a cursor of another order', async () => {
    expect((await list('?limit=1&limit=2')).body.fields).toEqual([
      { field: 'limit', error: expect.any(String) },
    ]);
    const { headers } = await list('?limit=2&sort=created_at');
    const cursor = new URL(
      /^<([^>]+)>/.exec(String(headers.link))?.[1] as string,
      'http://api',
    ).searchParams.get('cursor');
    const { status, body } = await list(`?limit=2&sort=name&cursor=${encodeURIComponent(cursor as string)}`);
    expect([status, body.fields?.[0]?.field]).toEqual([400, 'cursor']);
  });

  it('without a limit contain more domains than a page', async () => {
    const expected = Array.from({ length: 1050 }, (_, i) => `n${String(i).padStart(4, '0')}.long.test`);
    await sql`
      with made as (
        insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation,
          created_at, updated_at)
        select ${api.accountIds.owner}, name || '.', name, 'managed', 'disabled', 'none', 1, 1, now(), now()
        from unnest(${expected}::text[]) as name returning id, account_id)
      insert into domain_checks (domain_id, account_id, parent) select id, account_id, 'long.test.' from made`.execute(
      api.db,
    );
    expect(await names('?search=long&sort=-created_at')).toEqual(expected.toReversed());
    expect((await names('?search=long&offset=10')).length).toBe(1040);
  });
});
