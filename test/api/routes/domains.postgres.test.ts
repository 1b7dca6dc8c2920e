// The content, order and pages of the list are covered by test/store/domains, the answers for each claim of a name by
// test/store/change, and the names that may be claimed by test/zone/domain.

import { beforeAll, describe, expect, it } from 'vitest';
import { Domain, DomainListItem, NameserverSets } from '../../../src/api/schemas/domain.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { createDomain } from '../../../src/store/change/save-domain.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { readPages, sharedTestApi, startTestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { wantedDomain } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';

const api = sharedTestApi();
const NAMES = ['alpha.test', 'beta.test', 'delta.test', 'gamma.test', 'xn--bcher-kva.test'];

beforeAll(async () => {
  for (const name of ['gamma.test', 'bücher.test', 'alpha.test', 'delta.test', 'beta.test'])
    await api.makeDomain(name, { dnsMode: name === 'delta.test' ? 'external' : 'managed' });
  const create = (name: string) => api.ask('POST', '/domains/', { as: 'stranger', body: { name } });
  const shared = await create('shared.test');
  await saveMembership(api.db, shared.body.id, api.accountIds.viewer, 'editor');
  await create('strange.test');
});

const list = (query = '', as = 'owner') => api.ask('GET', `/domains/${query}`, { as });
const names = async (query = '', as = 'owner') => {
  const { status, body } = await list(query, as);
  expect([query, status]).toEqual([query, 200]);
  return body.map(({ name }: { name: string }) => name);
};

it('contains the domains that the account owns or shares, or those of a restricted key', async () => {
  expect(await names()).toEqual(NAMES);
  expect(await names('', 'viewer')).toEqual([...NAMES.slice(0, 4), 'shared.test', 'xn--bcher-kva.test']);
  expect(await names('', 'stranger')).toEqual(['shared.test', 'strange.test']);
  expect(await names('', 'operator')).toHaveLength(7);
  expect((await api.ask('GET', '/domains')).status).toBe(404);
  const key = await api.makeKey({ domains: ['beta.test', 'strange.test', 'xn--bcher-kva.test'] });
  expect(await names('', key)).toEqual(['beta.test', 'xn--bcher-kva.test']);
  expect((await list('?count=true', key)).headers['x-total-count']).toBe('2');
});

it('contains domains with their certificates and, for the owner, subscriptions', async () => {
  const { body } = await list();
  for (const item of body) {
    expect(DomainListItem.strict().parse(item)).toEqual(item);
    const { ssl, subscription, records, changed_at: changedAt, ...domain } = item;
    expect([ssl, records]).toEqual([{ status: 'none' }, 0]);
    expect(subscription).toMatchObject({ domain_id: item.id, status: 'active', plan: { slug: 'pro' } });
    expect(Date.parse(changedAt)).toBeGreaterThanOrEqual(Date.parse(item.created_at));
    const single = (await api.ask('GET', `/domains/${item.name}`)).body;
    if (domain.verification) {
      const { seconds_remaining: _, ...known } = domain.verification;
      expect(single.verification).toMatchObject(known); // only the single domain has the responses of servers
      domain.verification = single.verification;
    }
    expect(single).toEqual(domain);
  }
  for (const item of (await list('', 'viewer')).body) expect(item).not.toHaveProperty('subscription');
  const bare = await api.makeDomain('bare.test');
  await setPlan(api.db, { domainId: bare.id, planSlug: null });
  expect((await list('?search=bare')).body[0]).not.toHaveProperty('subscription');
  await api.ask('DELETE', '/domains/bare.test');
});

it('contains the number of records and the time of the last change', async () => {
  const [before] = (await list('?search=alpha.test')).body;
  const record = { name: 'www', type: 'A', destination: '192.0.2.7', proxied: false };
  const made = await api.ask('POST', '/domains/alpha.test/records/', { body: record });
  const [changed] = (await list('?search=LPHA.t')).body;
  expect(changed.records).toBe(1);
  expect(Date.parse(changed.changed_at)).toBeGreaterThan(Date.parse(before.changed_at));
  await api.ask('DELETE', `/domains/alpha.test/records/${made.body.id}`);
});

it.each([
  ['search=B%C3%9CCH', ['xn--bcher-kva.test']],
  ['search=bu%CC%88ch', ['xn--bcher-kva.test']],
  ['search=', NAMES],
  ['status=pending,%20unverified', NAMES],
  ['status=unverified', ['delta.test']],
  ['dns_mode=managed&search=ta', ['beta.test']],
  ['finding=STALE_DS', ['beta.test']],
  ['role=owner', NAMES],
  ['role=editor', ['shared.test'], 'viewer'],
  ['sort=-name', NAMES.toReversed()],
  ['sort=created_at', ['gamma.test', 'xn--bcher-kva.test', 'alpha.test', 'delta.test', 'beta.test']],
  ['sort=-status', ['delta.test', 'beta.test', 'alpha.test', 'xn--bcher-kva.test', 'gamma.test']],
])('?%s, as a whole and in pages', async (query, expected, as = 'owner') => {
  await api.query`update domains set findings = '[{"code": "STALE_DS", "message": "x"}]' where name = 'beta.test.'`;
  expect(await names(`?${query}`, as)).toEqual(expected);
  const ask = (_method: string, url: string) => api.ask('GET', url, { as });
  const pages = await readPages({ ask }, `/domains/?${query}&limit=2&count=true`);
  expect(pages.flatMap(({ body }) => body.map(({ name }: { name: string }) => name))).toEqual(expected);
  for (const { headers } of pages) expect(headers['x-total-count']).toBe(String(expected.length));
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
  ['limit', ['2']],
])('responds 400 to a wrong %s', async (name, values) => {
  for (const value of values) {
    const { status, body } = await list(`?limit=1&${name}=${value}`);
    expect([value, status, body.code]).toEqual([value, 400, 'validation_failed']);
    expect(body.fields).toEqual([{ field: name, error: expect.any(String) }]);
  }
});

const create = (body: unknown, as: string = 'owner', headers: Record<string, string> = {}) =>
  api.ask('POST', '/domains/', { as, body, headers });
const read = async (name: string, as: string = 'owner') =>
  (await api.ask('GET', `/domains/${name}`, { as })).body;
const error = expect.any(String);

const setsOf = async (as = 'owner') => {
  const { status, body } = await api.ask('GET', '/domains/ns-sets', { as });
  expect(status).toBe(200);
  expect(NameserverSets.parse(body)).toEqual(body);
  return body as string[][];
};

it('the nameserver sets without a pool are those of the fleet', async () => {
  for (const as of ['owner', 'stranger']) expect(await setsOf(as)).toEqual(TEST_SETTINGS.nameserverSets);
});

describe('POST domains', () => {
  it('returns a pending managed domain of the account', async () => {
    const { status, body, headers } = await create({ name: 'Bücher.COM.' });
    expect(status).toBe(200);
    expect(Domain.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      name: 'xn--bcher-kva.com',
      name_unicode: 'bücher.com',
      status: 'pending',
      dns_mode: 'managed',
      user_id: api.accountIds.owner,
      my_role: 'owner',
      suspended: false,
      svc_ns: ['ns1.example.net', 'ns2.example.net'],
      svc_ns_sets: [['ns1.example.net', 'ns2.example.net']],
      served: 'apex',
      findings: [
        {
          code: 'APEX_ONLY',
          message:
            'At most the SOA and NS records of this domain are answered until a first check has seen which nameservers your registrar shows. If it shows other nameservers of this service, set exactly ns1.example.net and ns2.example.net there. If the domain is already in use, ask the operator to approve it.',
        },
      ],
    });
    expect(body).not.toHaveProperty('verification');
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    expect(await read(body.name)).toEqual(body);
  });

  it('returns an unverified external domain with the TXT record to publish', async () => {
    const { status, body } = await create({ name: 'outside.com', dns_mode: 'external', scan: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'unverified',
      dns_mode: 'external',
      served: 'none',
      verification_started_at: expect.stringMatching(/Z$/),
      verification: {
        host: '_svc-challenge.outside.com',
        type: 'TXT',
        value: expect.stringMatching(/^svc-verify=[a-z2-7]{32}$/i),
        verified: false,
      },
    });
    const { expires_at, seconds_remaining } = body.verification;
    expect(Date.parse(expires_at) - Date.parse(body.verification_started_at)).toBe(14 * 86_400_000);
    expect(seconds_remaining).toBeGreaterThan(14 * 86_400 - 60);
  });

  it.each([
    [{ name: undefined }, 'name'],
    [{ name: 'com' }, 'name'],
    [{ name: 'a\0b.com' }, 'name'],
    [{ name: '\ud800.com' }, 'name'],
    [{ dns_mode: 'both' }, 'dns_mode'],
    [{ colour: 'red' }, 'colour'],
    [{ dnssec: true, dns_mode: 'external' }, 'dnssec'],
  ])('responds 400 to %j', async (wrong, field) => {
    const { status, body } = await create({ name: 'wrong.com', ...wrong });
    expect([status, body.code, body.fields]).toEqual([400, 'validation_failed', [{ field, error }]]);
    expect(await read('wrong.com')).toEqual({ error: 'domain not found' });
  });

  it('refuses external mode for a name that is too long for the name of the TXT record', async () => {
    const error = expect.stringContaining('too long');
    const name = `${`${'a'.repeat(49)}.`.repeat(4)}${'b'.repeat(40)}.com`;
    const made = await create({ name, dns_mode: 'external' });
    expect([made.status, made.body.fields]).toEqual([400, [{ field: 'name', error }]]);
    expect((await create({ name, scan: false })).status).toBe(200);
    const put = await api.ask('PUT', `/domains/${name}`, { body: { dns_mode: 'external' } });
    expect([put.status, put.body.fields]).toEqual([400, [{ field: 'dns_mode', error }]]);
  });

  it('refuses reserved names, and signs managed domains if the operator configured that', async () => {
    expect((await create({ name: 'example.test' })).status).toBe(200);
    const strict = await startTestApi({ allowReservedNames: false, signsNewDomains: true });
    const ask = (body: object) => strict.ask('POST', '/domains/', { body });
    expect((await ask({ name: 'example.test' })).status).toBe(400);
    for (const [body, status] of [
      [{ name: 'a.com' }, 'signing'],
      [{ name: 'b.com', dnssec: false }, 'off'],
      [{ name: 'c.com', dns_mode: 'external' }, 'off'],
    ] as const)
      expect((await ask(body)).body.dnssec).toEqual({ status });
    await strict.stop();
  });
});

describe('a name', () => {
  it('gets the same response if other accounts wait for it, unless all static sets are in use', async () => {
    const alone = (await create({ name: 'alone.com' }, 'stranger')).body;
    await create({ name: 'shared.com' });
    const { body } = await create({ name: 'shared.com' }, 'stranger');
    expect(Object.keys(body).sort()).toEqual(Object.keys(alone).sort());
    expect(body).toMatchObject({ status: alone.status, served: alone.served });
    expect(Math.abs(body.serial - alone.serial)).toBeLessThan(60); // serials are seconds
    expect((await read('shared.com', 'stranger')).served).toBe('none');
    // The other claim has the only static set.
    expect(body.findings.map(({ code }: { code: string }) => code)).toEqual(['SETS_SPENT', 'APEX_ONLY']);
    const again = await create({ name: 'Shared.com.', transfer: true }, 'stranger');
    expect([again.status, again.body.code]).toEqual([409, 'domain_taken']);
  });

  it('that is in use may be claimed, and its domain enabled, only with `transfer`', async () => {
    await create({ name: 'held.com' }, 'stranger');
    await api.query`update domains set status = 'disabled', served = 'none', pending_since = null where name = 'held.com.'`;
    const { id } = (await create({ name: 'held.com' }, 'operator')).body;
    await api.query`update domains set status = 'active', pending_since = null where id = ${id}`;
    const error =
      'held.com is already registered here: with "transfer": true the new domain waits, and becomes yours when its parent zone shows your nameservers';
    const enable = (body?: object) => api.ask('POST', '/domains/held.com/enable', { as: 'stranger', body });
    const asked = [await create({ name: 'held.com' }), await enable(), await enable({ transfer: false })];
    for (const { status, body } of asked)
      expect([status, body]).toEqual([409, { code: 'domain_taken', error }]);
    for (const { body } of [
      await create({ name: 'held.com', transfer: true }),
      await enable({ transfer: true }),
    ])
      expect(body).toMatchObject({ status: 'pending' });
    expect(await read('held.com', 'operator')).toMatchObject({ status: 'active' });
  });

  it('for which 32 accounts wait is full, with Retry-After', async () => {
    await create({ name: 'full.com' }, 'stranger');
    await api.query`update domains set status = 'disabled', served = 'none', pending_since = null where name = 'full.com.'`;
    await api.query`
      with a as (insert into accounts (email) select 'w' || i || '@full.test' from generate_series(1, 32) i returning id),
        d as (insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation,
            pending_since, claimed_at, created_at, updated_at)
          select id, 'full.com.', 'full.com', 'managed', 'pending', 'none', 1, 0, now(), now(), now(), now() from a
          returning id, account_id)
      insert into domain_checks (domain_id, account_id, parent) select id, account_id, 'com.' from d`;
    const full = { code: 'domain_taken', error: 'the maximum number of accounts already wait for full.com' };
    const enabled = await api.ask('POST', '/domains/full.com/enable', { as: 'stranger' });
    for (const { status, body, headers } of [await create({ name: 'full.com' }), enabled])
      expect([status, body, headers['retry-after']]).toEqual([409, full, expect.stringMatching(/^86\d{3}$/)]);
  });

  it.each([
    ['owner', 'apex'],
    ['operator', 'full'],
  ])('is answered, with several sets of nameservers, for %s: %s', async (as, served) => {
    const nameserverSets = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
    await inTransaction(api.db, (trx) => saveAnswerSettings(trx, { ...TEST_SETTINGS, nameserverSets }));
    const name = `of-${as}.com`;
    const { body } = await create({ name }, as);
    expect([(await read(name, as)).served, body.svc_ns_sets.length]).toEqual([served, 2]);
    expect(body.next_check_at).toBe(body.created_at);
    const put = (dns_mode: string) => api.ask('PUT', `/domains/${name}`, { as, body: { dns_mode } });
    await put('external');
    const back = await put('managed');
    expect(back.body).toMatchObject({ dns_mode: 'managed', status: 'pending', served });
    expect(back.body).not.toHaveProperty('verification');
    expect(Date.parse(back.body.next_check_at)).toBeLessThanOrEqual(Date.now());
    await api.query`update domains set status = 'disabled', served = 'none' where id = ${body.id}`;
    const { body: enabled } = await api.ask('POST', `/domains/${name}/enable`, { as });
    expect(enabled.served).toBe(served);
    expect((await read(name, as)).served).toBe(served);
  });
});

describe('the plan of an account', () => {
  const limitTo = (limit: number) => api.query`update plans set max_domains = ${limit} where slug = 'pro'`;
  const domainsOf = async (account: 'stranger' | 'viewer') => {
    const rows = await api.query`
      select from domains where account_id = ${api.accountIds[account]} and deleted_at is null`;
    return rows.length;
  };

  it('limits the number of domains, except for operators, and the error contains the limit', async () => {
    const limit = (await domainsOf('stranger')) + 1;
    await limitTo(limit);
    expect((await create({ name: 'limit-one.com' }, 'stranger')).status).toBe(200);
    const { status, body } = await create({ name: 'limit-two.com' }, 'stranger');
    const refusal = { error: `the plan allows ${limit} domains`, code: 'plan_limit', limit };
    expect([status, body]).toEqual([403, refusal]);
    // A deleted domain does not count.
    expect((await api.ask('DELETE', '/domains/limit-one.com', { as: 'stranger' })).status).toBe(200);
    expect((await create({ name: 'limit-two.com' }, 'stranger')).status).toBe(200);
    await limitTo(0);
    expect((await create({ name: 'operators-own.com' }, 'operator')).status).toBe(200);
    await limitTo(10_000);
  });

  it('limits concurrent requests', async () => {
    await limitTo((await domainsOf('viewer')) + 4);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create({ name: `at-once-${i}.com` }, 'viewer')),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403, 403, 403]);
    await limitTo(10_000);
  });

  it('that is missing allows 100 domains', async () => {
    const rows = await api.query<{ id: number }>`
      insert into accounts (email) values ('planless@zonefleet.test') returning id`;
    const accountId = rows[0]?.id as number;
    await api.query`insert into domains (account_id, name, unicode, dns_mode, status, served, serial,
        answers_generation, created_at, updated_at)
      select ${accountId}, 'p' || i || '.planless.', '', 'managed', 'disabled', 'none', 1, 0, now(), now()
      from generate_series(1, 100) i`;
    const created = await createDomain(api.db, wantedDomain(accountId, 'planless.com.'));
    expect(created).toMatchObject({ kind: 'plan_limit', limit: 100 });
  });
});

it('a domain with `dnssec` is signed as requested', async () => {
  expect((await create({ name: 'plain.com' })).body.dnssec).toEqual({ status: 'off' });
  expect((await create({ name: 'signed-1.com', dnssec: true })).body.dnssec).toEqual({ status: 'signing' });
  const dnssec = { denial: 'nsec3', algorithm: 15, split: true };
  expect((await create({ name: 'signed-2.com', dnssec })).status).toBe(200);
  expect(await read('signed-2.com/dnssec')).toMatchObject({
    goal: 'signed',
    denial: 'nsec3',
    algorithm: { number: 15 },
    keys: [{ role: 'ksk' }, { role: 'zsk' }],
  });
});

// The last test, because the pool stays.
it('the nameserver sets with a pool are one permanent set of the account, with names that no customer may have', async () => {
  await migrate(api.db, {
    ...TEST_SETTINGS,
    nameserverPool: [['ns[01-40].fleet-a.test.'], ['ns[01-40].fleet-b.test.']],
    nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
  });
  const [set, ...more] = await setsOf();
  expect(more).toEqual([]);
  expect(set?.join(' ')).toMatch(/^ns\d\d\.fleet-a\.test ns\d\d\.fleet-b\.test$/);
  expect(await setsOf()).toEqual([set]);
  expect(await setsOf('stranger')).not.toEqual([set]);
  for (const name of ['ns07.fleet-a.test', 'x.ns40.fleet-b.test', 'fleet-b.test']) {
    const { status, body } = await api.ask('POST', '/domains/', { body: { name } });
    expect([status, body.code]).toEqual([409, 'domain_taken']);
    expect(body.error).toContain('is reserved by the service');
  }
  expect((await api.ask('POST', '/domains/', { body: { name: 'ns41.fleet-a.test' } })).status).toBe(200);
});
