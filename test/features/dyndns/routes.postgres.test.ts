import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import { DYNDNS_ROUTES } from '../../../src/features/dyndns/routes.ts';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { ownApi, sharedTestApi, startTestApi, type TestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
const RECORDS = '/domains/home.example/records/';

beforeAll(async () => {
  await api.makeDomain('home.example');
});
beforeEach(async () => {
  const { body } = await api.ask('GET', RECORDS);
  const ids = body
    .filter(({ type }: { type: string }) => /^A|^CNAME/.test(type))
    .map(({ id }: { id: number }) => id);
  if (ids.length > 0) await api.ask('DELETE', `${RECORDS}batch?ids=${ids}`);
  const create = [
    { name: 'a', type: 'A', destination: '192.0.2.1', ttl: 600, comment: 'router' },
    { name: 'a', type: 'AAAA', destination: '2001:db8::1' },
    { name: 'b', type: 'A', destination: '192.0.2.1', proxied: true, port: 8443 },
    { name: 'many', type: 'A', destination: '192.0.2.1' },
    { name: 'many', type: 'A', destination: '192.0.2.2' },
    { name: 'alias', type: 'CNAME', destination: 'a.home.example' },
  ];
  const { status, text } = await api.ask('PUT', `${RECORDS}batch`, { body: { create } });
  if (status !== 200) throw new Error(text);
});

async function update(
  query: string,
  as: string = api.keys.owner,
  headers = {},
  on: TestApi = api,
  line = 'GET /nic/update',
) {
  const authorization = `Basic ${Buffer.from(`x:${as}`).toString('base64')}`;
  const [method, path] = line.split(' ') as [string, string];
  return await on.ask(method, `${path}?${query}`, {
    as: null,
    headers: { authorization, ...headers },
  });
}

const lines = async (...asked: Parameters<typeof update>) => {
  const { status, text } = await update(...asked);
  return [status, ...text.trimEnd().split('\n')];
};

async function sets(name: string): Promise<string[]> {
  const { body } = await api.ask('GET', RECORDS);
  return body
    .filter((one: { name: string }) => one.name === name)
    .map(
      (one: { type: string; destination: string; ttl: number }) =>
        `${one.ttl} ${one.type} ${one.destination}`,
    )
    .sort();
}
const serial = async () => (await api.ask('GET', '/domains/home.example')).body.serial;

describe('GET /nic/update', () => {
  it('changes only the address of the family, and writes nothing if the address is the same', async () => {
    const query = 'system=dyndns&hostname=A.home.example&myip=192.0.2.9&wildcard=NOCHG&mx=x&backmx=NO';
    const first = await update(query);
    expect(first.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(first.text).toBe('good 192.0.2.9\n');
    const before = await serial();
    expect(await lines(query)).toEqual([200, 'nochg 192.0.2.9']);
    expect(await serial()).toBe(before);
    expect(await sets('a')).toEqual(['300 AAAA 2001:db8::1', '600 A 192.0.2.9']);
    expect(await lines('hostname=a.home.example&myip=192.0.2.9&myipv6=2001:db8::9')).toEqual([
      200,
      'good 192.0.2.9,2001:db8::9',
    ]);
  });

  it('gives a proxied record a new origin', async () => {
    expect(await lines('hostname=b.home.example&myip=198.51.100.5,2001:db8::9')).toEqual([
      200,
      'good 198.51.100.5',
    ]);
    const { body } = await api.ask('GET', `${RECORDS}?name=b`);
    expect(body).toMatchObject([{ destination: '198.51.100.5', proxied: true, port: 8443 }]);
  });

  it('has a line for each host in order, and a refused host does not affect the others', async () => {
    const hosts = ['a.home.example', 'gone.home.example', 'a.other.example', 'x', 'many.home.example'];
    hosts.push('alias.home.example', 'many.home.example.', 'b.home.example');
    expect(await lines(`hostname=${hosts}&myip=192.0.2.9`)).toEqual([
      200,
      'good 192.0.2.9',
      'nohost',
      'nohost',
      'notfqdn',
      'numhost',
      'nohost',
      'numhost',
      'good 192.0.2.9',
    ]);
    expect(await sets('gone')).toEqual([]);
  });

  it('creates sets only with a key that is restricted to the host', async () => {
    const as = await api.makeKey({ names: ['new.home.example', 'alias.home.example'], types: ['A'] });
    const both = 'myip=192.0.2.9,2001:db8::9';
    expect(await lines(`hostname=new.home.example&${both}`, as)).toEqual([200, 'good 192.0.2.9']);
    expect(await sets('new')).toEqual(['60 A 192.0.2.9']);
    const others = ['a.home.example', 'alias.home.example', 'new.other.example'];
    expect(await lines(`hostname=${others}&${both}`, as)).toEqual([200, 'nohost', 'nohost', 'nohost']);
    expect(await lines('hostname=a.home.example&myip=192.0.2.1', as)).toEqual([200, 'nohost']);
  });

  it('uses the address of the client if the request has none', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.77' };
    const query = 'hostname=a.home.example';
    expect(await lines(query, api.keys.owner, forwarded)).toEqual([200, 'good 198.51.100.77']);
    // A router that has no address sends empty parameters.
    expect((await lines(`${query}&myip=&myipv6=,`, api.keys.owner, forwarded))[0]).toBe(400);
  });

  it.each([
    ['hostname=', [200, 'notfqdn']],
    ['', [200, 'notfqdn']],
    [`hostname=${Array.from({ length: 21 }, (_, i) => `h${i}.home.example`)}`, [200, 'numhost']],
    ['hostname=a.home.example&myip=here', [400, 'myip: expected one IPv4 or IPv6 address, or one of each']],
    ['hostname=a.home.example&myip=127.0.0.1', [400, 'myip: 127.0.0.1 is not an address of a host']],
    ['hostname=a.home.example&myip=&myipv6=2001:db8::1', [200, 'nochg 2001:db8::1']],
    ['hostname=a.home.example,b.home.example&offline=YES&myip=192.0.2.9', [200, 'nohost', 'nohost']],
    ['hostname=a.home.example&myip=192.0.2.1&myip=192.0.2.2', [400, expect.stringContaining('myip: ')]],
    [
      'hostname=a.home.example&hostname=b.home.example&myip=192.0.2.1',
      [200, 'nochg 192.0.2.1', 'nochg 192.0.2.1'],
    ],
  ])('answers the query "%s"', async (query, expected) => {
    expect(await lines(query)).toEqual(expected);
  });

  it.each([
    ['HEAD', '/nic/update', 405, 'GET'],
    ['POST', '/nic/update', 405, 'GET'],
    ['GET', '/httpreq/present', 405, 'POST'],
    ['GET', '/v3/update', 404, undefined],
    ['PATCH', '/domains/', 401, undefined],
  ])('answers %s %s with a password: %d, and writes nothing', async (method, path, status, allow) => {
    const before = await serial();
    const query = 'hostname=a.home.example&myip=192.0.2.77';
    const answer = await update(query, api.keys.owner, {}, api, `${method} ${path}`);
    expect([answer.status, answer.headers.allow]).toEqual([status, allow]);
    expect(await serial()).toBe(before);
  });

  it('rejects wrong, read-only and missing keys, and keys in the query', async () => {
    const query = 'hostname=a.home.example&myip=192.0.2.9';
    const before = await serial();
    expect((await update(query, generateKey())).headers['www-authenticate']).toMatch(/^Basic /);
    for (const as of [generateKey(), await api.makeKey({ readOnly: true })])
      expect(await lines(query, as)).toEqual([401, 'badauth']);
    const withKey = `/nic/update?${query}&password=${api.keys.owner}&key=${api.keys.owner}`;
    expect(await api.ask('GET', withKey, { as: null })).toMatchObject({ status: 401, text: 'badauth\n' });
    expect(await lines(query, api.keys.viewer)).toEqual([200, 'nohost']);
    expect(await lines(query, api.keys.stranger)).toEqual([200, 'nohost']);
    expect(await serial()).toBe(before);
  });
});

describe('a request that is refused as a whole', () => {
  const limited = ownApi(() => startTestApi({ requestsPerMinute: 1 }));

  it('gets abuse above the rate of the key', async () => {
    const ask = () => update('hostname=a.home.example', limited.keys.owner, {}, limited);
    expect((await ask()).text).toBe('nohost\n');
    const refused = await ask();
    expect([refused.status, refused.text]).toEqual([200, 'abuse\n']);
    expect(refused.headers['retry-after']).toBeDefined();
  });

  it('gets 911, after which clients retry, if the service has failed', () => {
    const [route] = DYNDNS_ROUTES;
    for (const status of [500, 503])
      expect(route?.compat?.explain(new Problem(status, 'x'))).toMatchObject({ status: 200, body: '911\n' });
  });
});
