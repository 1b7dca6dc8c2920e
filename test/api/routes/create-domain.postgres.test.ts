import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import { createDomain } from '../../../src/store/change/save-domain.ts';
import { saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { wantedDomain } from '../../support/database/domains.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const FORTNIGHT_MS = 14 * 86_400_000;
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ allowReservedNames: false });
});
afterAll(() => api.stop());

const create = (body: unknown, as: string = 'owner', headers: Record<string, string> = {}) =>
  api.ask('POST', '/domains/', { as, body, headers });

const setStatus = (name: string, status: string) =>
  sql`update domains set status = ${status}, pending_since = null where name = ${`${name}.`}`.execute(api.db);

describe('creating a domain', () => {
  it('answers a pending managed domain, owned by whose key it was', async () => {
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
    // What is answered of it is not said at once: that would tell whether somebody else waits.
    expect((await api.ask('GET', '/domains/first.com')).body).toEqual({ ...body, served: 'apex' });
  });

  it('takes no external one whose name leaves no room for that of the TXT record', async () => {
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

  it('answers an unverified external domain with the TXT record to publish', async () => {
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
    ['xn--strae-oqa.com', 'xn--strae-oqa.com', 'straße.com'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
    ['8.b.d.0.1.0.0.2.ip6.arpa', '8.b.d.0.1.0.0.2.ip6.arpa', '8.b.d.0.1.0.0.2.ip6.arpa'],
    ['name.unknowntld', 'name.unknowntld', 'name.unknowntld'],
    ['somebody.github.io', 'somebody.github.io', 'somebody.github.io'],
  ])('takes %s', async (name, canonical, unicode) => {
    const { status, body } = await create({ name });
    expect([status, body.name, body.name_unicode]).toEqual([200, canonical, unicode]);
  });

  it.each([
    ['com', 'a single label'],
    ['co.uk', 'a public suffix'],
    ['localhost', 'this machine'],
    ['a.localhost', 'this machine'],
    ['printer.local', 'multicast DNS'],
    ['a.invalid', 'invalid'],
    ['hidden.onion', 'Tor'],
    ['lan.home.arpa', 'homes'],
    ['example.com', 'reserved'],
    ['a.example.net', 'below a reserved one'],
    ['a.test', 'reserved'],
    ['192.0.2.1', 'an address'],
    ['a..com', 'with an empty label'],
    ['-a.com', 'with a hyphen in front'],
    ['a b.com', 'with a space'],
    ['*.a.com', 'a wildcard'],
    [`${'a'.repeat(64)}.com`, 'with a label of 64 characters'],
    [`${'a.'.repeat(130)}com`, 'of more than 253 characters'],
    ['xn--a.com', 'no A-label'],
    ['http://a.com/', 'a URL'],
    ['', 'empty'],
    ['.', 'the root'],
    ['a\0b.com', 'with U+0000'],
    ['\ud800.com', 'with half a character'],
  ])('refuses %j, which is %s', async (name) => {
    const { status, body } = await create({ name });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields[0]).toEqual({ field: 'name', error: expect.any(String) });
  });

  describe('where the operator allows reserved names', () => {
    let lenient: TestApi;
    beforeAll(async () => {
      lenient = await startTestApi({ allowReservedNames: true });
    });
    afterAll(() => lenient.stop());

    it('takes them, but never those that cannot be delegated', async () => {
      const statuses = ['example.test', 'a.example.org', 'a.localhost', 'test'].map(
        async (name) => (await lenient.ask('POST', '/domains/', { body: { name } })).status,
      );
      expect(await Promise.all(statuses)).toEqual([200, 200, 400, 400]);
    });

    it('keeps the names of our nameservers, and what is above and below, for global admins', async () => {
      for (const name of ['example.net', 'ns1.example.net', 'a.ns2.example.net']) {
        const { status, body } = await lenient.ask('POST', '/domains/', { body: { name } });
        expect([name, status, body.code]).toEqual([name, 409, 'domain_taken']);
      }
      expect((await lenient.ask('POST', '/domains/', { body: { name: 'ns3.example.net' } })).status).toBe(
        200,
      );
      const given = await lenient.ask('POST', '/domains/', { as: 'operator', body: { name: 'example.net' } });
      expect(given.status).toBe(200);
    });
  });

  const wrong: [field: string, values: unknown[]][] = [
    ['name', [undefined, null, 1, true, {}, [], ['a.com'], '']],
    ['dns_mode', [null, '', 'Managed', 'both', 1, true, {}, []]],
    ['scan', [null, 'true', 0, 1, {}, []]],
    ['transfer', [null, 'true', 0, 1, {}, []]],
    ['colour', ['red', null]],
    ['id', [1]],
    ['status', ['active']],
  ];
  it.each(wrong)('answers 400 naming %s when it is %j', async (field, values) => {
    for (const value of values) {
      const { status, body } = await create({ name: 'wrong.com', [field]: value });
      expect([value, status, body.code]).toEqual([value, 400, 'validation_failed']);
      expect(body.fields.map((problem: { field: string }) => problem.field)).toEqual([field]);
    }
    expect((await api.ask('GET', '/domains/wrong.com')).status).toBe(404);
  });

  it.each([[undefined], [null], [[]], ['"a.com"'], [7]])('answers 400 for the body %j', async (body) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    expect((await create(payload)).status).toBe(400);
  });
});

describe('who may create a domain', () => {
  it('is any number of accounts, one domain each: claims that wait exclude nobody', async () => {
    for (const as of ['owner', 'stranger', 'operator']) {
      const first = await create({ name: 'wanted.com' }, as);
      expect([as, first.status, first.body.user_id]).toEqual([as, 200, api.accountIds[as as 'owner']]);
      const again = await create({ name: 'Wanted.com.' }, as);
      expect([as, again.status, again.body.code]).toEqual([as, 409, 'domain_taken']);
      const transfer = await create({ name: 'wanted.com', transfer: true }, as);
      expect([as, transfer.status]).toEqual([as, 409]);
    }
  });

  it('is told the same where others wait too, unless no static set is left that it could set safely', async () => {
    const alone = (await create({ name: 'alone.com' }, 'stranger')).body;
    await create({ name: 'shared.com' });
    const { body } = await create({ name: 'shared.com' }, 'stranger');
    expect(Object.keys(body).sort()).toEqual(Object.keys(alone).sort());
    expect(body).toMatchObject({ status: alone.status, serial: alone.serial });
    expect(body).not.toHaveProperty('served');
    expect((await api.ask('GET', '/domains/shared.com', { as: 'stranger' })).body.served).toBe('none');
    // There is one static set, and the other claim has it.
    expect(body.findings.map(({ code }: { code: string }) => code)).toEqual(['SETS_SPENT']);
  });

  it('is another account only with `transfer` while the name is held, and then waits', async () => {
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

  it('is each of many accounts who ask at once, once', async () => {
    const asked = Array.from({ length: 8 }, (_, i) =>
      create({ name: 'race.com' }, i % 2 === 0 ? 'owner' : 'stranger'),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, ...Array(6).fill(409)]);
  });

  it('is not one account more where 32 wait, unless one of them has waited a day for nothing', async () => {
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

  it('is another account above or below an active domain, without taking any of its names', async () => {
    await create({ name: 'mid.lively.com' }, 'operator');
    await setStatus('mid.lively.com', 'active');
    for (const [name, served] of [
      ['lively.com', 'apex'],
      ['a.mid.lively.com', 'none'],
      ['beside.lively.com', 'apex'],
    ]) {
      expect((await create({ name }, 'stranger')).status).toBe(200);
      const { body } = await api.ask('GET', `/domains/${name}`, { as: 'stranger' });
      expect([name, body.status, body.served]).toEqual([name, 'pending', served]);
    }
  });

  it('is only a global admin around operator zones and our nameservers', async () => {
    const apex = parseName('operated.org.');
    const records = recordsOf('@ SOA a. b. 1 2 3 4 5\n@ NS a.', 'operated.org.');
    await saveZones(api.db, [{ apex, records }], { source: 'cli' });
    for (const name of ['operated.org', 'a.operated.org']) {
      const { status, body } = await create({ name });
      expect([status, body.code]).toEqual([409, 'domain_taken']);
    }
    expect((await create({ name: 'operated.org' }, 'operator')).status).toBe(409);
    expect((await create({ name: 'a.operated.org' }, 'operator')).status).toBe(200);
  });

  it('is not a key without the right to', async () => {
    const answered = async (key: Parameters<TestApi['makeKey']>[0]) =>
      await create({ name: 'keyed.com' }, await api.makeKey(key));
    expect((await answered({ readOnly: true })).body).toEqual({ error: 'read-only API key' });
    expect((await answered({ domains: ['keyed.com'] })).status).toBe(403);
    expect((await answered({ types: ['TXT'] })).status).toBe(403);
    expect((await create({ name: 'keyed.com' }, 'svc_nobody')).status).toBe(401);
  });

  it('is not an account that a reseller manages', async () => {
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

describe('an Idempotency-Key', () => {
  it('makes a domain once and answers the same again', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await create({ name: 'once.com' }, 'owner', headers);
    const second = await create({ name: 'once.com' }, 'owner', headers);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replay']).toBe('true');
    expect(second.headers['x-change-id']).toBe(first.headers['x-change-id']);
    const other = await create({ name: 'other-once.com' }, 'owner', headers);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch']);
  });

  it('is free again after a refusal', async () => {
    const headers = { 'idempotency-key': 'two' };
    await create({ name: 'blocker.com' });
    expect((await create({ name: 'blocker.com' }, 'owner', headers)).status).toBe(409);
    expect((await create({ name: 'unblocked.com' }, 'owner', headers)).status).toBe(200);
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
  ])('a domain of %s is answered at first: %s', async (as, served) => {
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

  it('says how many domains it may have; the refusal says so too', async () => {
    const { rows } = await sql<{ slug: string; max_domains: number }>`
      select slug, max_domains from plans order by slug`.execute(api.db);
    expect(rows).toEqual([
      { slug: 'free', max_domains: 100 },
      { slug: 'pro', max_domains: 10_000 },
    ]);
    const limit = (await domainsOf('stranger')) + 1;
    await limitTo(limit);
    expect((await create({ name: 'limit-one.com' }, 'stranger')).status).toBe(200);
    const { status, body } = await create({ name: 'limit-two.com' }, 'stranger');
    expect([status, body]).toEqual([
      403,
      { error: `the plan allows ${limit} domains`, code: 'plan_limit', limit },
    ]);
    // A deleted domain frees its place.
    expect((await api.ask('DELETE', '/domains/limit-one.com', { as: 'stranger' })).status).toBe(200);
    expect((await create({ name: 'limit-two.com' }, 'stranger')).status).toBe(200);
    await limitTo(10_000);
  });

  it('is kept when many are created at once', async () => {
    await limitTo((await domainsOf('viewer')) + 4);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => create({ name: `at-once-${i}.com` }, 'viewer')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
    await limitTo(10_000);
  });

  it('limits no operator', async () => {
    await limitTo(0);
    expect((await create({ name: 'operators-own.com' }, 'operator')).status).toBe(200);
    await limitTo(10_000);
  });

  it('that is none allows as few as the smallest', async () => {
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

describe('a domain that is signed from the beginning', () => {
  const old = (what: 'insert' | 'delete') =>
    (what === 'insert'
      ? sql`insert into nodes (name, instance, started_at) values ('old', gen_random_uuid(), now())`
      : sql`delete from nodes where name = 'old'`
    ).execute(api.database.db);

  it('is one whose body says so, with wishes or without', async () => {
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

  it.each([
    [{ dnssec: { denial: 'nsec5' } }, 'dnssec.denial'],
    [{ dnssec: { split: 'x' } }, 'dnssec.split'],
    [{ dnssec: { way: 'x' } }, 'dnssec.way'],
    [{ dnssec: 'yes' }, 'dnssec'],
    [{ dnssec: true, dns_mode: 'external' }, 'dnssec'],
  ])('%j is refused, with the field', async (body, field) => {
    const { status, body: answer } = await create({ name: 'wrong.com', ...body });
    expect([status, answer.code]).toEqual([400, 'validation_failed']);
    expect(answer.fields[0].field).toMatch(new RegExp(`^${field}`));
    expect((await api.ask('GET', '/domains/wrong.com')).status).toBe(404);
  });

  it('is not made while the fleet cannot sign, and can be made afterwards with the same key', async () => {
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

  it('is every managed one where the operator has it so, unless its caller says otherwise', async () => {
    const signing = await startTestApi({ signsNewDomains: true });
    try {
      const dnssecOf = async (body: object) =>
        (await signing.ask('POST', '/domains/', { body: JSON.stringify(body) })).body.dnssec.status;
      expect(await dnssecOf({ name: 'a.test' })).toBe('signing');
      expect(await dnssecOf({ name: 'b.test', dnssec: false })).toBe('off');
      expect(await dnssecOf({ name: 'c.test', dns_mode: 'external' })).toBe('off');
    } finally {
      await signing.stop();
    }
  });
});
