import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { createInGroups } from '../../../src/api/actions/create-in-groups.ts';
import { OwnDomainBatchResult } from '../../../src/api/schemas/domain-batch.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();

beforeAll(() => api.query`update plans set max_domains = 10000, max_claims = null`);

const batch = (domains: unknown, as = 'owner', headers: Record<string, string> = {}) =>
  api.ask('POST', '/domains/batch', { as, body: { domains }, headers });
const named = (...names: string[]) => names.map((name) => ({ name, scan: false }));
const outcomes = ({ body }: Awaited<ReturnType<typeof batch>>) =>
  body.domains.map(({ outcome, code }: { outcome: string; code?: string }) => code ?? outcome);

it('creates domains in the order of the request, and shows what a single create would', async () => {
  const { status, body } = await batch([
    { name: 'One.COM.', scan: false },
    { name: 'two.com', dns_mode: 'external' },
    { name: 'one.com' },
  ]);
  expect(status).toBe(200);
  expect(OwnDomainBatchResult.strict().parse(body)).toEqual(body);
  const [one, two] = body.domains;
  expect(body).toEqual({
    domains: [
      {
        name: 'One.COM.',
        outcome: 'created',
        id: expect.any(Number),
        status: 'pending',
        served: 'apex',
        svc_ns: ['ns1.example.net', 'ns2.example.net'],
        change_id: expect.any(Number),
        findings: [{ code: 'APEX_ONLY', message: expect.any(String) }],
      },
      expect.objectContaining({ name: 'two.com', status: 'unverified', verification: expect.any(Object) }),
      expect.objectContaining({ name: 'one.com', outcome: 'exists', id: one.id }),
    ],
    created: 2,
    existing: 1,
    refused: 0,
  });
  for (const [name, { id, served }] of [['one.com', one] as const, ['two.com', two] as const])
    expect((await api.ask('GET', `/domains/${name}`)).body).toMatchObject({ id, served });
});

it('refuses domains with a code, the index and the field, and creates the others', async () => {
  await api.query`update domains set status = 'active', pending_since = null where name = 'one.com.'`;
  const { body } = await batch(
    [
      { name: 'com' },
      { name: 'one.com' },
      { name: 'three.com', dns_mode: 'external', dnssec: true },
      { name: 'three.com', scan: false },
    ],
    'stranger',
  );
  expect(body.domains.map(({ code, error }: { code?: string; error?: string }) => [code, error])).toEqual([
    ['validation_failed', expect.stringMatching(/^domains\[0\]\.name: /)],
    ['domain_taken', expect.stringMatching(/^domains\[1\]\.name: one\.com is already registered here/)],
    ['validation_failed', 'domains[2].dnssec: only domains in managed mode can be signed'],
    [undefined, undefined],
  ]);
  expect(body).toMatchObject({ created: 1, existing: 0, refused: 3 });
});

it('does not reveal that another account waits for a name', async () => {
  await batch(named('wanted.com'));
  const { body } = await batch(named('alone.com', 'wanted.com'), 'stranger');
  const [alone, wanted] = body.domains;
  expect(Object.keys(wanted)).toEqual(Object.keys(alone));
  expect([wanted.status, wanted.served]).toEqual([alone.status, alone.served]);
});

it('applies the limit of the plan to each domain', async () => {
  const [{ count } = { count: 0 }] = await api.query<{ count: number }>`
    select count(*)::integer as count from domains where account_id = ${api.accountIds.viewer} and deleted_at is null`;
  await api.query`update plans set max_domains = ${count + 2}`;
  const came = await batch(named('v1.com', 'v2.com', 'v3.com', 'v1.com'), 'viewer');
  expect(outcomes(came)).toEqual(['created', 'created', 'plan_limit', 'exists']);
  expect(came.body.domains[2].error).toBe(`domains[2]: the plan allows ${count + 2} domains`);
  await api.query`update plans set max_domains = 10000`;
});

it('concurrent calls with the same names and single creates do not deadlock', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `race-${i}.com`);
  const single = (name: string) => api.ask('POST', '/domains/', { body: { name, scan: false } });
  const [up, down, others] = await Promise.all([
    batch(named(...names)),
    batch(named(...names.toReversed())),
    batch(named(...names), 'stranger'),
    ...names.map(single),
  ]);
  for (const { status } of [up, down, others]) expect(status).toBe(200);
  expect(outcomes(others)).toEqual(names.map(() => 'created'));
  const rows = await api.query`
    select from domains where name like 'race-%' and account_id = ${api.accountIds.owner}`;
  expect(rows).toHaveLength(names.length);
});

it('returns its first response to a repeat with its Idempotency-Key', async () => {
  const key = { 'idempotency-key': 'batch' };
  const first = await batch(named('once.com'), 'owner', key);
  expect(outcomes(first)).toEqual(['created']);
  expect((await batch(named('once.com'), 'owner', key)).body).toEqual(first.body);
});

it.each([
  [[], 'domains'],
  [named(...Array<string>(1001).fill('a.com')), 'domains'],
  [[{ name: 'a.com', colour: 'red' }], 'domains[0].colour'],
])('rejects body %#', async (domains, field) => {
  const { status, body } = await batch(domains);
  expect([status, body.fields[0].field]).toEqual([400, field]);
});

it('begins a new transaction if one takes two seconds', async () => {
  let now = 0;
  const { domains } = await createInGroups(named('slow-1.com', 'slow-2.com', 'slow-3.com'), {
    db: api.db,
    log: api.app.log,
    nowMs: () => now,
    async create(trx, { name }) {
      now += 1500;
      const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(trx);
      return { name, outcome: 'created' as const, id: rows[0]?.id };
    },
  });
  const [first, second, third] = domains.map((result) => ('id' in result ? result.id : result.error));
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});
