import { beforeEach, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';
let made = 0;
let name: string;
beforeEach(async () => {
  name = `cluster${made++}.example`;
  await api.makeDomain(name);
});

const PATH = '/external-dns/records';
const apply = (body: object, as = 'owner') => api.ask('POST', PATH, { as, body });
const endpoint = (dnsName: string, recordType: string, targets: string[], more = {}) => ({
  ...{ dnsName, recordType, targets },
  ...more,
});
const proxied = (value: string) => ({ providerSpecific: [{ name: 'webhook/zonefleet-proxied', value }] });
const batch = (body: object) => api.ask('PUT', `/domains/${name}/records/batch`, { body });
const changes = async () =>
  (
    await api.query<{
      count: number;
    }>`select count(*) from domain_changes c join domains d on d.id = c.domain_id
      where d.name = ${`${name}.`}`
  )[0]?.count;
async function endpoints(key: string) {
  const { body } = await api.ask('GET', PATH, { as: key });
  return body.map(({ dnsName, recordType, targets, recordTTL }: Record<string, unknown>) =>
    [dnsName, recordType, recordTTL, ...(targets as string[])].join(' '),
  );
}

it('negotiates the domains whose records the key may edit, with the exact media type', async () => {
  const off = await api.makeDomain(`off${name}`);
  await api.query`update domains set status = 'disabled', served = 'none', pending_since = null where id = ${off.id}`;
  const key = await api.makeKey({ domains: [name, `off${name}`, 'absent.example'] });
  const basic = { authorization: `Basic ${btoa(`x:${key}`)}` };
  for (const path of ['/external-dns', '/external-dns/']) {
    const { status, headers, text } = await api.ask('GET', path, { as: null, headers: basic });
    expect([status, headers['content-type'], headers.vary]).toEqual([200, MEDIA_TYPE, 'Content-Type']);
    expect(text).toBe(`{"include":["${name}"]}`);
  }
  const viewer = await api.ask('GET', '/external-dns', { as: 'viewer' });
  expect(viewer.body).toEqual({ include: [] });
  const refused = await api.ask('GET', '/external-dns', { as: null });
  expect([refused.status, refused.text]).toEqual([401, 'a valid API key is required\n']);
});

it('streams record sets as endpoints, without managed records and other types', async () => {
  await batch({
    create: [
      { name: '@', type: 'MX', destination: 'mail.example', mx_priority: 10 },
      { name: '@', type: 'TXT', destination: 'v=spf1 -all' },
      { name: '@', type: 'TXT', destination: 'say "hello"' },
      { name: '@', type: 'CAA', destination: '0 issue "ca.example"' },
      { name: '_sip._tcp', type: 'SRV', destination: '10 5 5060 sip.example' },
      { name: '*.app', type: 'CNAME', destination: 'lb.example', ttl: 600 },
      ...Array.from({ length: 1500 }, (_, i) => ({
        ...{ name: `h${i % 750}`, type: 'A', destination: `192.0.${2 + Math.floor(i / 750)}.${i % 250}` },
      })),
    ],
  });
  const key = await api.makeKey({ domains: [name] });
  const answer = await api.ask('GET', PATH, { as: key });
  expect(answer.headers).toMatchObject({ 'content-type': MEDIA_TYPE, vary: 'Content-Type' });
  expect(answer.body).toHaveLength(754);
  const hosts = answer.body.filter(({ dnsName }: { dnsName: string }) => /^h\d/.test(dnsName));
  expect(hosts[0]).toEqual(
    endpoint(`h0.${name}`, 'A', ['192.0.2.0', '192.0.3.0'], { recordTTL: 300, ...proxied('false') }),
  );
  expect(await endpoints(key)).toEqual(
    expect.arrayContaining([
      `${name} MX 300 10 mail.example`,
      `${name} TXT 300 "v=spf1 -all" "say \\"hello\\""`,
      `_sip._tcp.${name} SRV 300 10 5 5060 sip.example.`,
      `*.app.${name} CNAME 600 lb.example`,
    ]),
  );
});

it('applies the difference of old and new targets, and keeps other records of the set', async () => {
  await batch({ create: [{ name: '@', type: 'TXT', destination: 'v=spf1 -all' }] });
  const key = await api.makeKey({ domains: [name] });
  const heritage = '"heritage=external-dns,external-dns/owner=a"';
  const create = [
    endpoint(name.toUpperCase(), 'TXT', [heritage], proxied('true')),
    endpoint(name, 'A', ['192.0.2.1', '192.0.2.2'], { recordTTL: 1 }),
  ];
  const created = await apply({ Create: create, UpdateOld: null, UpdateNew: null, Delete: null }, key);
  expect([created.status, created.text]).toEqual([204, '']);
  const both = [`${name} TXT 300 "v=spf1 -all" ${heritage}`, `${name} A 60 192.0.2.1 192.0.2.2`];
  expect((await endpoints(key)).sort()).toEqual([...both].sort());
  const before = await changes();
  expect((await apply({ create }, key)).status).toBe(204);
  expect(await changes()).toBe(before);
  const [, old] = create;
  const updateNew = [endpoint(name, 'A', ['192.0.2.2', '192.0.2.3'])];
  expect((await apply({ updateOld: [old], updateNew, delete: [create[0]] }, key)).status).toBe(204);
  expect((await endpoints(key)).sort()).toEqual([
    `${name} A 60 192.0.2.3 192.0.2.2`,
    `${name} TXT 300 "v=spf1 -all"`,
  ]);
});

it.each([
  ['a type', endpoint('a.{}', 'CAA', ['0 issue ";"']), 'a.{} CAA: the type is not supported'],
  ['a setIdentifier', endpoint('a.{}', 'A', ['192.0.2.1'], { setIdentifier: 'eu' }), /setIdentifier/],
  ['a target', endpoint('a.{}', 'A', ['192.0.2']), /^a\.\{\} A: /],
  ['no targets', endpoint('a.{}', 'A', []), 'a.{} A: an endpoint requires targets'],
  ['a relative host', endpoint('a.{}', 'MX', ['10 @']), /expected a priority and a host/],
  ['a name', endpoint('a..{}', 'A', ['192.0.2.1']), /empty labels/],
  ['a nested wildcard', endpoint('a.*.{}', 'A', ['192.0.2.1']), /leftmost label/],
  ['a property', endpoint('a.{}', 'A', ['192.0.2.1'], proxied('yes')), /expected "true" or "false"/],
  ['a CNAME at the apex', endpoint('{}', 'CNAME', ['lb.example']), /^\{\} CNAME: the apex cannot be a CNAME/],
  ['a conflict', endpoint('www.{}', 'CNAME', ['lb.example']), /^www\.\{\} CNAME: /],
])('refuses %s with 422 and a sentence, and changes no domain', async (_, wrong, sentence) => {
  await api.makeDomain(`early-${name}`);
  await batch({ create: [{ name: 'www', type: 'TXT', destination: 'x' }] });
  const before = await changes();
  const bad = { ...wrong, dnsName: wrong.dnsName.replace('{}', name) };
  const create = [
    endpoint(`a.early-${name}`, 'A', ['192.0.2.1']),
    endpoint(`b.${name}`, 'A', ['192.0.2.1']),
    bad,
  ];
  const { status, text, headers } = await apply({ create });
  expect([status, headers['content-type']]).toEqual([422, 'text/plain; charset=utf-8']);
  const shown = text.trimEnd().replace(name, '{}');
  if (typeof sentence === 'string') expect(shown).toBe(sentence);
  else expect(shown).toMatch(sentence);
  expect(await changes()).toBe(before);
  expect(
    (await api.ask('GET', `/domains/early-${name}/records/`)).body.filter(
      ({ type }: { type: string }) => type === 'A',
    ),
  ).toEqual([]);
});

it('skips TXT records of the registry that no domain contains, but no other record', async () => {
  const owned = (dnsName: string) =>
    endpoint(dnsName, 'TXT', ['"heritage=external-dns"'], { labels: { ownedRecord: name } });
  expect((await apply({ create: [owned(`a-${name}`), owned(name)] })).status).toBe(204);
  const { status, text } = await apply({ create: [endpoint(`a-${name}`, 'A', ['192.0.2.1'])] });
  expect([status, text]).toEqual([404, `no domain of this API key contains a-${name}\n`]);
});

it('checks the rights of the key for each name and type', async () => {
  const narrowed = await api.makeKey({ names: [`a.${name}`], types: ['A'] });
  const readOnly = await api.makeKey({ readOnly: true });
  const statuses = [];
  for (const [as, dnsName, type] of [
    [narrowed, `a.${name}`, 'A'],
    [narrowed, `b.${name}`, 'A'],
    [narrowed, `a.${name}`, 'AAAA'],
    [readOnly, `a.${name}`, 'A'],
    ['viewer', `a.${name}`, 'A'],
    ['stranger', `a.${name}`, 'A'],
    ['editor', `a.${name}`, 'AAAA'],
  ] as const)
    statuses.push(
      (await apply({ create: [endpoint(dnsName, type, [type === 'A' ? '192.0.2.1' : '::1'])] }, as)).status,
    );
  expect(statuses).toEqual([204, 403, 403, 403, 403, 404, 204]);
});

it('adjusts endpoints to the form in which it will return them', async () => {
  const { status, headers, body } = await api.ask('POST', '/external-dns/adjustendpoints', {
    as: await api.makeKey({ readOnly: true }),
    body: [
      endpoint(`A.${name}`, 'A', ['192.0.2.1'], { recordTTL: 5, labels: { owner: 'a' } }),
      endpoint(`b.${name}`, 'AAAA', ['2001:DB8:0::1'], { ...proxied('true'), recordTTL: 0 }),
      endpoint(`c.${name}`, 'TXT', ['bare text'], proxied('true')),
      endpoint(`_s._tcp.${name}`, 'SRV', ['1 2 3 sip.example'], { recordTTL: 999_999 }),
      endpoint(`d.${name}`, 'CAA', ['0 issue ";"']),
      endpoint(`e.${name}`, 'A', ['wrong']),
    ],
  });
  expect([status, headers['content-type']]).toEqual([200, MEDIA_TYPE]);
  expect(body).toEqual([
    endpoint(`a.${name}`, 'A', ['192.0.2.1'], { recordTTL: 60, labels: { owner: 'a' }, ...proxied('false') }),
    endpoint(`b.${name}`, 'AAAA', ['2001:db8::1'], proxied('true')),
    endpoint(`c.${name}`, 'TXT', ['"bare text"']),
    endpoint(`_s._tcp.${name}`, 'SRV', ['1 2 3 sip.example.'], { recordTTL: 86_400 }),
    endpoint(`e.${name}`, 'A', ['wrong'], proxied('false')),
  ]);
  expect((await api.ask('POST', '/external-dns/adjustendpoints', { body: null })).body).toEqual([]);
});
