import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { createDomain } from '../../../src/store/change/save-domain.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { sharedTestApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { wantedDomain } from '../../support/database/domains.ts';

const FORTNIGHT_MS = 14 * 86_400_000;
const api = sharedTestApi();

const create = (body: unknown, as: string = 'owner', headers: Record<string, string> = {}) =>
  api.ask('POST', '/domains/', { as, body, headers });

const setStatus = (name: string, status: string) =>
  sql`update domains set status = ${status}, pending_since = null where name = ${`${name}.`}`.execute(api.db);

describe('POST domains', () => {
  it('returns a pending managed domain of the account', async () => {
    const { status, body, headers } = await create({ name: 'first.com' });
    expect(status).toBe(200);
    expect(Domain.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      name: 'first.com',
      name_unicode: 'first.com',
      status: 'pending',
      dns_mode: 'managed',
      user_id: api.accountIds.owner,
      my_role: 'owner',
      suspended: false,
      svc_ns: ['ns1.example.net', 'ns2.example.net'],
      svc_ns_sets: [['ns1.example.net', 'ns2.example.net']],
      findings: [],
    });
    expect(body).not.toHaveProperty('verification');
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    // `served` is absent at first: it would reveal that other accounts wait for the name.
    expect((await api.ask('GET', '/domains/first.com')).body).toEqual({ ...body, served: 'apex' });
  });

  it('refuses an external domain whose name is too long for the name of the TXT record', async () => {
    const name = `${`${'a'.repeat(49)}.`.repeat(4)}${'b'.repeat(40)}.com`;
    const { status, body } = await create({ name, dns_mode: 'external' });
    expect([status, body.code, body.fields]).toEqual([
      400,
      'validation_failed',
      [{ field: 'name', error: expect.stringContaining('too long') }],
    ]);
    expect((await create({ name, scan: false })).status).toBe(200);
    const put = await api.ask('PUT', `/domains/${name}`, { body: { dns_mode: 'external' } });
    expect([put.status, put.body.fields]).toEqual([
      400,
      [{ field: 'dns_mode', error: expect.stringContaining('too long') }],
    ]);
  });

  it('returns an unverified external domain with the TXT record to publish', async () => {
    const beforeMs = Date.now();
    const { status, body } = await create({ name: 'outside.com', dns_mode: 'external', scan: false });
    const afterMs = Date.now();
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'unverified', dns_mode: 'external', served: 'none' });
    const { verification } = body;
    expect(verification).toMatchObject({
      host: '_svc-challenge.outside.com',
      type: 'TXT',
      value: expect.stringMatching(/^svc-verify=[a-z2-7]{32}$/i),
      verified: false,
    });
    const expiresAt = Date.parse(verification.expires_at);
    expect(expiresAt).toBeGreaterThanOrEqual(beforeMs + FORTNIGHT_MS - 1000);
    expect(expiresAt).toBeLessThanOrEqual(afterMs + FORTNIGHT_MS);
    expect(verification.seconds_remaining).toBeGreaterThanOrEqual(Math.floor((expiresAt - afterMs) / 1000));
    expect(verification.seconds_remaining).toBeLessThanOrEqual(14 * 86_400);
    expect(body.verification_started_at).toMatch(/Z$/);
  });

  it.each([
    ['UPPER-Case.COM.', 'upper-case.com', 'upper-case.com'],
    ['bücher.com', 'xn--bcher-kva.com', 'bücher.com'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
  ])('accepts %s', async (name, canonical, unicode) => {
    const { status, body } = await create({ name });
    expect([status, body.name, body.name_unicode]).toEqual([200, canonical, unicode]);
  });

  it.each(['com', 'a.localhost', 'a..com', 'a\0b.com', '\ud800.com'])('refuses %j', async (name) => {
    const { status, body } = await create({ name });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields[0]).toEqual({ field: 'name', error: expect.any(String) });
  });

  it("reserves the names of the fleet's nameservers for global admins", async () => {
    for (const name of ['example.net', 'ns1.example.net', 'a.ns2.example.net']) {
      const { status, body } = await create({ name });
      expect([name, status, body.code]).toEqual([name, 409, 'domain_taken']);
    }
    expect((await create({ name: 'ns3.example.net' })).status).toBe(200);
    expect((await create({ name: 'example.net' }, 'operator')).status).toBe(200);
  });

  it.each([
    ['name', undefined],
    ['dns_mode', 'both'],
    ['colour', 'red'],
  ])('reports a wrong %s', async (field, value) => {
    const { status, body } = await create({ name: 'wrong.com', [field]: value });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields.map((problem: { field: string }) => problem.field)).toEqual([field]);
  });
});

describe('with other settings of the operator', () => {
  let strict: TestApi;
  beforeAll(async () => {
    strict = await startTestApi({ allowReservedNames: false, signsNewDomains: true });
  });
  afterAll(() => strict.stop());

  it('refuses reserved names', async () => {
    for (const [name, status] of [
      ['example.test', 400],
      ['a.example.org', 400],
      ['allowed.com', 200],
    ])
      expect((await strict.ask('POST', '/domains/', { body: { name } })).status).toBe(status);
    expect((await create({ name: 'example.test' })).status).toBe(200);
  });

  it('signs managed domains unless the request says otherwise', async () => {
    const dnssecOf = async (body: object) =>
      (await strict.ask('POST', '/domains/', { body })).body.dnssec.status;
    expect(await dnssecOf({ name: 'a.com' })).toBe('signing');
    expect(await dnssecOf({ name: 'b.com', dnssec: false })).toBe('off');
    expect(await dnssecOf({ name: 'c.com', dns_mode: 'external' })).toBe('off');
  });
});

describe('a name', () => {
  it('may be claimed by several accounts, once each', async () => {
    for (const as of ['owner', 'stranger', 'operator']) {
      const first = await create({ name: 'wanted.com' }, as);
      expect([as, first.status, first.body.user_id]).toEqual([as, 200, api.accountIds[as as 'owner']]);
      const again = await create({ name: 'Wanted.com.' }, as);
      expect([as, again.status, again.body.code]).toEqual([as, 409, 'domain_taken']);
      const transfer = await create({ name: 'wanted.com', transfer: true }, as);
      expect([as, transfer.status]).toEqual([as, 409]);
    }
  });

  it('gets the same response if other accounts wait for it, unless all static sets are spent', async () => {
    const alone = (await create({ name: 'alone.com' }, 'stranger')).body;
    await create({ name: 'shared.com' });
    const { body } = await create({ name: 'shared.com' }, 'stranger');
    expect(Object.keys(body).sort()).toEqual(Object.keys(alone).sort());
    expect(body).toMatchObject({ status: alone.status, serial: alone.serial });
    expect(body).not.toHaveProperty('served');
    expect((await api.ask('GET', '/domains/shared.com', { as: 'stranger' })).body.served).toBe('none');
    // The other claim has the only static set.
    expect(body.findings.map(({ code }: { code: string }) => code)).toEqual(['SETS_SPENT']);
  });

  it('that is held may be claimed only with `transfer`', async () => {
    await create({ name: 'held.com' });
    await setStatus('held.com', 'active');
    const refused = await create({ name: 'held.com' }, 'stranger');
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        code: 'domain_taken',
        error:
          'held.com is registered here already; with "transfer": true it waits, and becomes yours when its parent zone shows your nameservers',
      },
    ]);
    expect((await api.ask('GET', '/domains/held.com', { as: 'stranger' })).status).toBe(404);
    const waiting = await create({ name: 'held.com', transfer: true }, 'stranger');
    expect(waiting.body).toMatchObject({ status: 'pending' });
    expect((await api.ask('GET', '/domains/held.com', { as: 'stranger' })).body.served).toBe('none');
    expect((await api.ask('GET', '/domains/held.com')).body).toMatchObject({ status: 'active' });
  });

  it('for which 32 accounts wait is full, unless one of them has waited for a day', async () => {
    await create({ name: 'full.com' }, 'stranger');
    await sql`
      with a as (insert into accounts (email) select 'w' || i || '@full.test' from generate_series(1, 31) i returning id),
        d as (insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation,
            pending_since, claimed_at, created_at, updated_at)
          select id, 'full.com.', 'full.com', 'managed', 'pending', 'none', 1, 0, now(), now(), now(), now() from a
          returning id, account_id)
      insert into domain_checks (domain_id, account_id, parent) select id, account_id, 'com.' from d`.execute(
      api.db,
    );
    const { status, body, headers } = await create({ name: 'full.com' });
    expect([status, body]).toEqual([
      409,
      { code: 'domain_taken', error: 'as many accounts as may wait for full.com do so' },
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(86_000);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(86_400);
    await sql`
      update domains set claimed_at = now() - interval '25 hours'
      where name = 'full.com.' and account_id = ${api.accountIds.stranger}`.execute(api.db);
    expect((await create({ name: 'full.com' })).status).toBe(200);
    const displaced = await api.ask('GET', '/domains/full.com', { as: 'stranger' });
    expect(displaced.body).toMatchObject({
      status: 'disabled',
      findings: [{ code: 'CLAIM_DISPLACED' }],
    });
    const back = await api.ask('POST', '/domains/full.com/enable', { as: 'stranger' });
    expect([back.status, back.body.code]).toEqual([409, 'domain_taken']);
    expect(Number(back.headers['retry-after'])).toBeGreaterThan(86_000);
  });

  it('is not created by an account that a reseller manages', async () => {
    const set = (provider_id: number | null) =>
      api.db.updateTable('accounts').set({ provider_id }).where('id', '=', api.accountIds.stranger).execute();
    await set(api.accountIds.operator);
    try {
      const { status, body } = await create({ name: 'managed.com' }, 'stranger');
      expect([status, body.code]).toEqual([403, 'managed_by_reseller']);
    } finally {
      await set(null);
    }
  });
});

describe('with several sets of nameservers', () => {
  const OTHER_SET = ['ns1.example.org', 'ns2.example.org'];
  beforeAll(() =>
    inTransaction(api.db, (trx) =>
      saveAnswerSettings(trx, {
        ...TEST_SETTINGS,
        nameserverSets: [...TEST_SETTINGS.nameserverSets, OTHER_SET],
      }),
    ),
  );

  it.each([
    ['owner', 'apex'],
    ['operator', 'full'],
  ])('a new domain of %s is served: %s', async (as, served) => {
    const { status, body } = await create({ name: `of-${as}.com` }, as);
    const seen = async () => (await api.ask('GET', `/domains/of-${as}.com`, { as })).body.served;
    expect([status, await seen(), body.svc_ns_sets.length]).toEqual([200, served, 2]);
    expect(body.next_check_at).toBe(body.created_at);
    await api.ask('PUT', `/domains/of-${as}.com`, { as, body: { dns_mode: 'external' } });
    const back = await api.ask('PUT', `/domains/of-${as}.com`, { as, body: { dns_mode: 'managed' } });
    expect(back.body.served).toBe(served);
    await sql`update domains set status = 'disabled', served = 'none' where name = ${`of-${as}.com.`}`.execute(
      api.db,
    );
    const { body: enabled } = await api.ask('POST', `/domains/of-${as}.com/enable`, { as });
    expect([enabled.served, await seen()]).toEqual([as === 'operator' ? served : undefined, served]);
  });
});

describe('the plan of an account', () => {
  const limitTo = (limit: number) =>
    sql`update plans set max_domains = ${limit} where slug = 'pro'`.execute(api.db);

  const domainsOf = async (account: 'stranger' | 'viewer') => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from domains
      where account_id = ${api.accountIds[account]} and deleted_at is null`.execute(api.db);
    return rows[0]?.count ?? 0;
  };

  it('limits the number of domains, and the error contains the limit', async () => {
    const limit = (await domainsOf('stranger')) + 1;
    await limitTo(limit);
    expect((await create({ name: 'limit-one.com' }, 'stranger')).status).toBe(200);
    const { status, body } = await create({ name: 'limit-two.com' }, 'stranger');
    expect([status, body]).toEqual([
      403,
      { error: `the plan allows ${limit} domains`, code: 'plan_limit', limit },
    ]);
    // A deleted domain does not count.
    expect((await api.ask('DELETE', '/domains/limit-one.com', { as: 'stranger' })).status).toBe(200);
    expect((await create({ name: 'limit-two.com' }, 'stranger')).status).toBe(200);
    await limitTo(10_000);
  });

  it('limits concurrent requests', async () => {
    await limitTo((await domainsOf('viewer')) + 4);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create({ name: `at-once-${i}.com` }, 'viewer')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
    await limitTo(10_000);
  });

  it('does not limit operators', async () => {
    await limitTo(0);
    expect((await create({ name: 'operators-own.com' }, 'operator')).status).toBe(200);
    await limitTo(10_000);
  });

  it('that is missing allows 100 domains', async () => {
    const { rows } = await sql<{ id: number }>`
      insert into accounts (email) values ('planless@zonefleet.test') returning id`.execute(api.db);
    const accountId = rows[0]?.id as number;
    await sql`insert into domains (account_id, name, unicode, dns_mode, status, served, serial,
        answers_generation, created_at, updated_at)
      select ${accountId}, 'p' || i || '.planless.', '', 'managed', 'disabled', 'none', 1, 0, now(), now()
      from generate_series(1, 100) i`.execute(api.db);
    const created = await createDomain(api.db, wantedDomain(accountId, 'planless.com.'));
    expect(created).toMatchObject({ kind: 'plan_limit', limit: 100 });
  });
});

describe('a domain with `dnssec`', () => {
  const old = (what: 'insert' | 'delete') =>
    (what === 'insert'
      ? sql`insert into nodes (name, instance, started_at) values ('old', gen_random_uuid(), now())`
      : sql`delete from nodes where name = 'old'`
    ).execute(api.database.db);

  it('is signed as requested', async () => {
    expect((await create({ name: 'plain.com' })).body.dnssec).toEqual({ status: 'off' });
    expect((await create({ name: 'signed-1.com', dnssec: true })).body.dnssec).toEqual({ status: 'signing' });
    const dnssec = { denial: 'nsec3', algorithm: 15, split: true };
    expect((await create({ name: 'signed-2.com', dnssec })).status).toBe(200);
    expect((await api.ask('GET', '/domains/signed-2.com/dnssec')).body).toMatchObject({
      goal: 'signed',
      denial: 'nsec3',
      algorithm: { number: 15 },
      keys: [{ role: 'ksk' }, { role: 'zsk' }],
    });
  });

  it('is not external', async () => {
    const { status, body } = await create({ name: 'wrong.com', dnssec: true, dns_mode: 'external' });
    expect([status, body.fields[0].field]).toEqual([400, 'dnssec']);
    expect((await api.ask('GET', '/domains/wrong.com')).status).toBe(404);
  });

  it('is not created while the fleet cannot sign, and later with the same Idempotency-Key', async () => {
    await old('insert');
    const headers = { 'idempotency-key': 'signed-later' };
    const body = { name: 'later.com', dnssec: true };
    const refused = await create(body, 'owner', headers);
    expect(refused).toMatchObject({ status: 503, body: { code: 'dnssec_unavailable' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await api.ask('GET', '/domains/later.com')).status).toBe(404);
    await old('delete');
    expect((await create(body, 'owner', headers)).body.dnssec).toEqual({ status: 'signing' });
  });
});
