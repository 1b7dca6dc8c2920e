import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ownApi, startTestApi } from '../../support/api/api.ts';
import { newDomain } from '../../support/database/domains.ts';
import { makeReseller, mintedToken, type Reseller } from '../../support/walk/resellers.ts';

const api = ownApi(() => startTestApi({ resellerRequestsPerMinute: 1000 }));
let reseller: Reseller;
beforeAll(async () => {
  reseller = await makeReseller(api, 'reseller@tokens.test');
});

const ask = (method: string, path: string, as: string, body?: object, headers = {}): Promise<Answer> =>
  api.ask(method, `/reseller/v1${path}`, { as, ...(body && { body: JSON.stringify(body) }), headers });

describe('a machine token', () => {
  it('is shown once, and not in a replay of its creation', async () => {
    const session = await reseller.session();
    const body = { name: 'billing', expires_at: '2999-01-01T00:00:00Z' };
    const once = { 'idempotency-key': 'mint' };
    const made = await ask('POST', '/tokens', session, body, once);
    expect(made.status).toBe(200);
    const { token, ...listed } = made.body;
    expect(token).toMatch(new RegExp(`^rsl_${listed.key_id}_[0-9A-Za-z]{43}$`));
    const { id, key_id, created_at, ...rest } = listed;
    expect([typeof id, typeof created_at, /^[0-9A-Za-z]{12}$/.test(key_id)]).toEqual([
      'number',
      'string',
      true,
    ]);
    const expires_at = '2999-01-01T00:00:00.000Z';
    expect(rest).toEqual({ name: 'billing', status: 'active', expires_at, last_used_at: null });
    const again = await ask('POST', '/tokens', session, body, once);
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([200, 'true', listed]);
    const list = await ask('GET', '/tokens', session);
    expect(list.body[0]).toEqual(listed);
    expect(list.text).not.toContain(token);
  });

  it('is not stored in the database or in the log', async () => {
    const made = await ask('POST', '/tokens', await reseller.session(), { name: 'secret' });
    const secret = (made.body.token as string).split('_')[2] as string;
    await ask('GET', '/whoami', made.body.token);
    const rows = await api.query<{ table: string }>`
      select table_name as table from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`;
    expect(rows.length).toBeGreaterThan(50);
    for (const { table } of rows) {
      const found = await api.query<{ is: boolean }>`
        select exists (select from ${sql.table(table)} t where t::text like ${`%${secret}%`}) as is`;
      expect([table, found]).toEqual([table, [{ is: false }]]);
    }
    expect(JSON.stringify(api.logged)).not.toContain(secret);
  });

  it('is valid until it is revoked or expires, and has the time of its last use', async () => {
    const session = await reseller.session();
    const { id, text } = await mintedToken(api, reseller.id);
    const read = async () =>
      (await ask('GET', '/tokens', session)).body.find((each: { id: number }) => each.id === id);
    const whoami = (await ask('GET', '/whoami', text)).body;
    expect(whoami).toMatchObject({ user_id: reseller.id, credential: 'token' });
    await expect.poll(async () => (await read()).last_used_at).toMatch(/^\d{4}-/);
    expect((await ask('DELETE', `/tokens/${id}`, session)).status).toBe(200);
    expect((await ask('GET', '/whoami', text)).status).toBe(401);
    expect((await read()).status).toBe('revoked');
    expect((await ask('DELETE', `/tokens/${id}`, session)).status).toBe(404);
    const over = { name: 'over', expires_at: '2020-01-01T00:00:00Z' };
    const refused = await ask('POST', '/tokens', session, over);
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, 'expires_at']);
  });

  it('is valid only on the reseller surface, as a bearer token', async () => {
    for (const headers of [
      { authorization: `Bearer ${reseller.token}` },
      { 'x-api-key': reseller.token },
    ] as Record<string, string>[])
      expect((await api.ask('GET', '/domains/', { as: null, headers })).status).toBe(401);
    const headers = { 'x-api-key': reseller.token };
    expect((await api.ask('GET', '/reseller/v1/whoami', { as: null, headers })).status).toBe(401);
  });

  it('is rejected if its account is deactivated or no longer a reseller', async () => {
    const former = await makeReseller(api, 'former@tokens.test');
    await api.query`update accounts set active = false where id = ${former.id}`;
    const inactive = await ask('GET', '/whoami', former.token);
    expect([inactive.status, inactive.body.code]).toEqual([403, 'account_suspended']);
    await api.query`update accounts set active = true, is_reseller = false where id = ${former.id}`;
    const none = await ask('GET', '/whoami', former.token);
    expect([none.status, none.body]).toEqual([403, { error: 'this account is not a reseller' }]);
  });

  it('is one of at most 100, and the last 100 revoked ones are kept', async () => {
    const many = await makeReseller(api, 'many@tokens.test');
    const session = await many.session();
    for (let i = 1; i < 100; i++) await mintedToken(api, many.id);
    expect((await ask('POST', '/tokens', session, { name: 'one more' })).status).toBe(409);
    await api.query`update reseller_tokens set revoked_at = now() where account_id = ${many.id}`;
    const { id } = await mintedToken(api, many.id);
    expect((await ask('DELETE', `/tokens/${id}`, session)).status).toBe(200);
    expect((await ask('GET', '/tokens', session)).body).toHaveLength(100);
  });
});

it('a path that cannot be decoded is a 400, and without a credential a 401', async () => {
  const error = 'the path cannot be decoded: use UTF-8, and two hexadecimal digits after each "%"';
  for (const path of ['/reseller/v1/%ZZ', '/%72eseller/v1/domains/%ff', '/reseller/v1/whoami%?a=b']) {
    for (const as of [reseller.token, await reseller.session()]) {
      const { status, body } = await api.ask('GET', path, { as });
      expect([path, status, body]).toEqual([path, 400, { error }]);
    }
    expect((await api.ask('GET', path, { as: null })).status).toBe(401);
  }
  expect((await api.ask('GET', '/%ZZ', { as: reseller.token })).status).toBe(401);
});

it('a global admin who is a reseller has the rights of a reseller', async () => {
  const admin = await makeReseller(api, 'admin@tokens.test');
  await api.query`update accounts set is_admin = true where id = ${admin.id}`;
  expect((await ask('GET', '/whoami', admin.token)).body.admin).toBe(false);
  const { id } = await newDomain(api.db, api.accountIds.owner, 'not-of-a-client.test.');
  expect((await ask('GET', `/domains/${id}`, admin.token)).status).toBe(403);
});

it('a reseller cannot reach its own domain', async () => {
  const { id } = await newDomain(api.db, reseller.id, 'own-of-the-reseller.test.');
  expect((await ask('GET', `/domains/${id}`, reseller.token)).status).toBe(403);
});

it('each token has its own rate limit, and the sessions of an account share one', async () => {
  const bounded = await startTestApi({ resellerRequestsPerMinute: 2 });
  try {
    const { token, session } = await makeReseller(bounded, 'bounded@tokens.test');
    const [one, other] = [await session(), await session()];
    const statusOf = async (as: string) => (await bounded.ask('GET', '/reseller/v1/whoami', { as })).status;
    for (const each of [token, token, one, other]) expect(await statusOf(each)).toBe(200);
    for (const each of [token, one, other]) {
      const refused = await bounded.ask('GET', '/reseller/v1/whoami', { as: each });
      expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await bounded.ask('GET', '/domains/', { as: one })).status).toBe(200);
  } finally {
    await bounded.stop();
  }
});
