import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { until } from '../../support/tests/until.ts';

const api = sharedTestApi();
const FQDN = '_acme-challenge.shop.example.';
const NAME = FQDN.slice(0, -1);

beforeAll(() => api.makeDomain('shop.example'));
beforeEach(async () => {
  for (const { id } of await txt()) await api.ask('DELETE', `/domains/shop.example/records/${id}`);
});

/** lego's request: the key is the password of Basic authentication. */
async function call(verb: 'present' | 'cleanup', body: unknown, as: string = api.keys.owner) {
  const authorization = `Basic ${Buffer.from(`x:${as}`).toString('base64')}`;
  const { status, text, headers } = await api.ask('POST', `/httpreq/${verb}`, {
    as: null,
    headers: { authorization },
    body,
  });
  return { status, text, headers };
}

async function txt(name = NAME): Promise<{ id: number; destination: string; ttl: number }[]> {
  const { body } = await api.ask('GET', '/domains/shop.example/records/?type=TXT');
  return body.filter((one: { name: string }) => `${one.name}.shop.example` === name);
}

const values = async () => (await txt()).map(({ destination }) => destination).sort();
const serial = async () => (await api.ask('GET', '/domains/shop.example')).body.serial;
const DONE = { status: 200, text: '{}' };

describe('httpreq', () => {
  it('adds and removes one record among those of other clients, and repeated calls change nothing', async () => {
    expect(await call('present', { fqdn: FQDN, value: 'one' })).toMatchObject(DONE);
    expect(await call('present', { fqdn: FQDN.toUpperCase(), value: 'two', more: [1] })).toMatchObject(DONE);
    expect(await txt()).toMatchObject([{ ttl: 60 }, { ttl: 60 }]);
    const before = await serial();
    expect(await call('present', { fqdn: NAME, value: 'two' })).toMatchObject(DONE);
    expect([await values(), await serial()]).toEqual([['one', 'two'], before]);
    for (let i = 0; i < 2; i++)
      expect(await call('cleanup', { fqdn: FQDN, value: 'one' })).toMatchObject(DONE);
    expect([await values(), await serial()]).toEqual([['two'], before + 1]);
  });

  it('adds all records of clients that call concurrently', async () => {
    const each = Array.from({ length: 8 }, (_, i) => `value-${i}`);
    await Promise.all(each.map((value) => call('present', { fqdn: FQDN, value })));
    expect(await values()).toEqual(each);
    await Promise.all(each.map((value) => call('cleanup', { fqdn: FQDN, value })));
    expect(await values()).toEqual([]);
  });

  it('answers present when every live node serves the record, even if the record was added earlier', async () => {
    await api.query`insert into nodes (name, instance, started_at, seen_at, loaded, epoch, zones, records, unserved)
      select 'slow', gen_random_uuid(), now(), now(), true, ${sql.raw(EPOCH_SQL)}, 1, 1, '{}' from feed`;
    for (const repeated of [false, true]) {
      let isAnswered = false;
      const answer = call('present', { fqdn: FQDN, value: 'x' }).finally(() => {
        isAnswered = true;
      });
      await until(async () => (await txt()).length === 1, 'the record is stored');
      for (let calls = 0; repeated && calls < 5; calls++) await serial(); // time for an answer without waiting
      expect(isAnswered).toBe(false);
      await api.query`update nodes set snapshot = pg_current_snapshot()`;
      expect(await answer).toMatchObject(DONE);
      await api.query`update nodes set snapshot = null`;
    }
    await api.query`delete from nodes`;
  });

  it('computes the record in mode RAW, for a name and its wildcard', async () => {
    for (const domain of ['shop.example', '*.shop.example'])
      expect(await call('present', { domain, token: 't', keyAuth: `${domain}.key` })).toMatchObject(DONE);
    expect(await values()).toHaveLength(2);
    await call('cleanup', { domain: '*.shop.example', token: 't', keyAuth: '*.shop.example.key' });
    await call('cleanup', { domain: 'shop.example', token: 't', keyAuth: 'shop.example.key' });
    expect(await values()).toEqual([]);
  });

  it("accepts the requests of Caddy's module acmeproxy 1.1, and repeats them in the response", async () => {
    const body = { FQDN, Value: 'x' };
    const repeated = { status: 200, text: JSON.stringify(body) };
    expect(await call('present', body)).toMatchObject(repeated);
    expect(await values()).toEqual(['x']);
    expect(await call('cleanup', body)).toMatchObject(repeated);
    expect(await values()).toEqual([]);
  });

  it('lets a narrowed key write at its names only', async () => {
    const names = [NAME, 'delegated.shop.example'];
    const as = await api.makeKey({ names, types: ['TXT'] });
    expect(await call('present', { fqdn: FQDN, value: 'x' }, as)).toMatchObject(DONE);
    expect(await call('present', { fqdn: 'delegated.shop.example.', value: 'x' }, as)).toMatchObject(DONE);
    const refused = { status: 403, text: 'this API key may not write records at that name' };
    for (const verb of ['present', 'cleanup'] as const)
      expect(await call(verb, { fqdn: `_acme-challenge.a.${NAME}`, value: 'x' }, as)).toMatchObject(refused);
    const onlyA = await api.makeKey({ names, types: ['A'] });
    expect(await call('cleanup', { fqdn: FQDN, value: 'x' }, onlyA)).toMatchObject({
      status: 403,
      text: 'this API key may not write TXT records',
    });
    const elsewhere = await api.makeKey({ domains: ['other.example'] });
    expect((await call('present', { fqdn: FQDN, value: 'x' }, elsewhere)).status).toBe(404);
    expect(await values()).toEqual(['x']);
  });

  it('explains refusals as text', async () => {
    const body = { fqdn: FQDN, value: 'x' };
    const cases: [number, string, unknown, string?][] = [
      [400, 'fqdn: expected a name that begins with _acme-challenge', { ...body, fqdn: 'www.shop.example' }],
      [400, 'value: is required', { fqdn: FQDN }],
      [400, 'the body is not valid JSON', '{'],
      [401, 'a valid API key is required', body, generateKey()],
      [403, 'read-only API key', body, await api.makeKey({ readOnly: true })],
      [403, 'your role lacks records.edit', body, api.keys.viewer],
      [
        404,
        'no domain of this API key contains _acme-challenge.gone.example',
        { ...body, fqdn: '_acme-challenge.gone.example' },
      ],
    ];
    for (const [status, text, body, as] of cases) {
      const answer = await call('present', body, as);
      expect(answer).toMatchObject({ status, text: expect.stringContaining(text) });
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
      if (status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    }
    expect(await values()).toEqual([]);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://shop.example' },
  ])('ignores a password that a browser sends with the request of a page: %o', async (ofPage) => {
    const authorization = `Basic ${Buffer.from(`x:${api.keys.owner}`).toString('base64')}`;
    const headers = { authorization, ...ofPage };
    const asked = { as: null, headers, body: { fqdn: FQDN, value: 'x' } };
    expect((await api.ask('POST', '/httpreq/present', asked)).status).toBe(401);
  });
});
