import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
const S = '/api/v1/servers/localhost';
let made = 0;
let name: string;
let zone: string;
beforeEach(async () => {
  name = `zone${made++}.example`;
  zone = `${S}/zones/${name}.`;
  await api.makeDomain(name);
});

const ask = (method: string, path: string, body?: unknown, as = 'owner') => {
  const key = api.keys[as as 'owner'] ?? as;
  return api.ask(method, path, {
    as: null,
    headers: { 'x-api-key': key, 'content-type': 'text/plain' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};
const rrset = (label: string, type: string, contents: string[], more: object = {}) => ({
  name: label === '@' ? `${name}.` : `${label}.${name}.`,
  ...{ type, ttl: 300, changetype: 'REPLACE', records: contents.map((content) => ({ content })) },
  ...more,
});
const change = (changetype: string) => ({ changetype });
const patch = (...rrsets: object[]) => ask('PATCH', zone, { rrsets });
const records = (body: object) => api.ask('PUT', `/domains/${name}/records/batch`, { body });

/** Returns the sets of the zone as lines, without SOA and NS. */
async function sets(as?: string): Promise<string[]> {
  const { body } = await ask('GET', zone, undefined, as);
  return body.rrsets
    .map((set: { name: string; type: string; ttl: number; records: { content: string }[] }) =>
      [set.name.replace(`.${name}.`, ''), set.ttl, set.type, ...set.records.map((each) => each.content)].join(
        ' ',
      ),
    )
    .filter((line: string) => !/ (SOA|NS) /.test(line));
}

const logged = () =>
  api.query<{ source: string; serial: number }>`
    select c.source, c.serial from domain_changes c join domains d on d.id = c.domain_id
    where d.name = ${`${name}.`} order by c.id`;

describe('PATCH', () => {
  it('applies its changes in order, as one change of the domain', async () => {
    await patch(rrset('a', 'TXT', ['"1"', '"2"']), rrset('b', 'A', ['192.0.2.1']));
    const before = await logged();
    const { status, headers, text } = await patch(
      rrset('a', 'TXT', ['"3"'], change('EXTEND')),
      rrset('a', 'TXT', ['"1"'], { ...change('PRUNE'), ttl: undefined }),
      rrset('a', 'TXT', ['"2"'], { ...change('EXTEND'), ttl: undefined }),
      rrset('b', 'A', [], change('DELETE')),
      rrset('b', 'CNAME', ['Target.example.'], { ttl: 1 }),
      rrset('c', 'ALIAS', ['c.example.']),
      rrset('@', 'MX', ['10 mail.example.', '0 .'].slice(0, 1)),
    );
    const after = await logged();
    expect([status, text, after.length - before.length, after.at(-1)?.source]).toEqual([204, '', 1, 'pdns']);
    expect(headers).toMatchObject({
      'x-pdns-old-serial': String(before.at(-1)?.serial),
      'x-pdns-new-serial': String(after.at(-1)?.serial),
    });
    expect(await sets()).toEqual([
      'a 300 TXT "3" "2"',
      'b 60 CNAME Target.example.',
      'c 300 ALIAS c.example.',
      `${name}. 300 MX 10 mail.example.`,
    ]);
    const again = await patch(
      rrset('a', 'TXT', ['"2"', '"3"']),
      rrset('c', 'A', ['192.0.2.1'], change('PRUNE')),
    );
    expect([again.status, (await logged()).length]).toEqual([204, after.length]);
    expect(again.headers['x-pdns-old-serial']).toBe(again.headers['x-pdns-new-serial']);
  });

  it('keeps proxied names proxied, with the settings of the edge, and shows their origins', async () => {
    await records({
      create: [
        { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true, port: 8443 },
        { name: 'app', type: 'A', destination: '198.51.100.1', proxied: true, port: 8443 },
      ],
    });
    await patch(
      rrset('www', 'A', ['198.51.100.2']),
      rrset('www', 'AAAA', ['2001:db8::1']),
      rrset('app', 'A', [], change('DELETE')),
      rrset('app', 'CNAME', ['app.host.example.']),
    );
    expect(await sets()).toEqual([
      'app 300 CNAME app.host.example.',
      'www 300 A 198.51.100.2',
      'www 300 AAAA 2001:db8::1',
    ]);
    const { body } = await api.ask('GET', `/domains/${name}/records/?proxied=true`);
    expect(body.map((each: { port: number }) => each.port)).toEqual([8443, 8443, 8443]);
  });

  it('stores the comments of a set with its records', async () => {
    const comments = [{ content: 'first', account: 'x' }, { content: '' }, { content: 'third' }];
    await patch(rrset('c', 'TXT', ['"1"', '"2"', '"3"', '"4"'], { comments }));
    const shown = async () => (await ask('GET', `${zone}?rrset_name=c.${name}`)).body.rrsets[0].comments;
    const all = ['first', '', 'third'].map((content) => ({
      content,
      account: '',
      modified_at: expect.any(Number),
    }));
    expect(await shown()).toEqual(all);
    await patch(rrset('c', 'TXT', ['"1"', '"2"', '"3"']));
    expect(await shown()).toEqual(all);
    await patch(rrset('c', 'TXT', [], { records: undefined, comments: [] }));
    expect(await shown()).toEqual([]);
  });

  it('ignores the SOA and NS records of the service, and selects another nameserver set', async () => {
    const [soa, ns] = (await ask('GET', zone)).body.rrsets;
    const newer = soa.records[0].content.replace(/ \d{10} /, ' 4000000000 ');
    const { status } = await patch(
      { ...soa, ...change('REPLACE'), records: [{ content: newer }] },
      { ...ns, ...change('REPLACE'), ttl: 60, records: ns.records.toReversed() },
      rrset('x', 'A', ['192.0.2.1']),
    );
    expect([status, await sets()]).toEqual([204, ['x 300 A 192.0.2.1']]);
    const other = await patch(rrset('@', 'NS', ['ns1.other.example.']));
    expect([other.status, other.body.error]).toEqual([
      422,
      `RRset ${name}. IN NS: the service sets the nameservers of the zone; expected ns1.example.net. ns2.example.net.`,
    ]);
    const values = await api.query<{
      value: unknown;
    }>`select value from settings where name = 'NAMESERVER_SETS'`;
    const both = JSON.stringify([
      ['ns1.example.net', 'ns2.example.net'],
      ['ns1.other.example', 'ns2.other.example'],
    ]);
    await api.query`update settings set value = ${both}::jsonb where name = 'NAMESERVER_SETS'`;
    try {
      const chosen = rrset('@', 'NS', ['ns2.other.example.', 'ns1.other.example.']);
      const editor = await ask('PATCH', zone, { rrsets: [chosen] }, 'editor');
      expect(editor.status).toBe(403);
      expect((await patch(chosen, rrset('y', 'A', ['x']))).status).toBe(422);
      const selected = await patch(chosen, rrset('y', 'A', ['192.0.2.1']));
      expect([
        selected.status,
        (await ask('GET', `${zone}?rrset_name=${name}&rrset_type=NS`)).body.rrsets[0].records,
      ]).toEqual([
        204,
        [
          { content: 'ns1.other.example.', disabled: false },
          { content: 'ns2.other.example.', disabled: false },
        ],
      ]);
    } finally {
      const before = JSON.stringify(values[0]?.value);
      await api.query`update settings set value = ${before}::jsonb where name = 'NAMESERVER_SETS'`;
    }
  });

  it.each([
    ['an invalid content', ['b', 'A', ['x']], /^Record b\.\S+ IN A 'x': /],
    ['an MX without a priority', ['b', 'MX', ['mail.example']], 'expected a priority and a full name'],
    ['two CNAMEs', ['b', 'CNAME', ['x.example.', 'y.example.']], /^RRset b\.\S+ IN CNAME: /],
    ['a CNAME at the apex', ['@', 'CNAME', ['x.example.']], 'the apex cannot be a CNAME'],
    ['another SOA', ['@', 'SOA', ['a. b. 1 2 3 4 5']], 'only its serial may differ'],
    ['a type of the signer', ['b', 'DNSKEY', ['257 3 13 AAAA']], 'unknown type given'],
    [
      'a disabled record',
      ['b', 'A', [], { records: [{ content: '192.0.2.1', disabled: true }] }],
      'disabled: ',
    ],
    ['a list of the wrong type', ['b', 'A', [], { records: '192.0.2.1', comments: [] }], "Key 'records' is"],
    [
      'many nameservers',
      ['@', 'NS', Array.from({ length: 33 }, (_, i) => `ns${i}.other.example.`)],
      'expected at most 32 nameservers',
    ],
    [
      'too many records',
      ['b', 'A', Array.from({ length: 20_001 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)],
      'the plan allows',
    ],
    [
      'a long comment',
      ['b', 'TXT', ['"x"'], { comments: [{ content: 'x'.repeat(1025) }] }],
      'a comment has more than',
    ],
  ] as const)('refuses %s with a 422 that says why, and changes nothing', async (_, [
    label,
    type,
    contents,
    more,
  ], why) => {
    const { status, body } = await patch(
      rrset('a', 'A', ['192.0.2.1']),
      rrset(label, type, [...contents], more ?? {}),
    );
    expect([status, body]).toEqual([
      422,
      { error: typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why) },
    ]);
    expect(await sets()).toEqual([]);
  });

  it('lists all problems in `errors` if there are several', async () => {
    const { body } = await patch(
      rrset('a', 'CNAME', ['a.b.', 'b.b.']),
      rrset('c', 'CNAME', ['a.b.', 'b.b.']),
    );
    expect(body.errors).toHaveLength(2);
    expect(body.error).toBe(body.errors[0]);
  });

  it('keeps each record that 100 concurrent clients add, once, and removes those that they remove', async () => {
    const clients = Array.from({ length: 100 }, (_, i) => i);
    /** Repeats a request that is refused because too many wait for the zone. */
    const write = async (type: string, content: string): Promise<void> => {
      const { status } = await patch(rrset('e', 'TXT', [`"${content}"`], change(type)));
      if (status === 503) return await write(type, content);
      expect(status).toBe(204);
    };
    const texts = async () => (await sets())[0]?.split(' ').slice(3).sort();
    const expected = (...contents: (string | number)[]) => contents.map((each) => `"${each}"`).sort();
    // Two clients add each record. Then half of the clients remove one, while the others add more.
    await Promise.all(clients.map((i) => write('EXTEND', String(i % 50))));
    expect(await texts()).toEqual(expected(...clients.slice(0, 50)));
    await Promise.all(
      clients.map((i) => (i % 2 === 0 ? write('PRUNE', `${i % 50}`) : write('EXTEND', `new${i}`))),
    );
    const odd = clients.filter((i) => i % 2 === 1);
    expect(await texts()).toEqual(expected(...odd.filter((i) => i < 50), ...odd.map((i) => `new${i}`)));
  });
});

describe('zones', () => {
  const create = (body: object) => ask('POST', `${S}/zones`, { kind: 'Native', ...body });

  it('are created with all of their properties, or not at all', async () => {
    const fresh = `new-${name}.`;
    const www = { name: `www.${fresh}`, type: 'A', ttl: 60, records: [{ content: '192.0.2.1' }] };
    const bad = { ...www, type: 'CNAME', records: [{ content: 'x.example.' }] };
    for (const wrong of [
      { rrsets: [www, bad] },
      { nameservers: ['ns.other.example.'] },
      { kind: 'Slave', masters: ['10.0.0.1'] },
      { kind: 'Slave', masters: ['198.41.0.4'], rrsets: [www] },
      { name: 'com.' },
    ])
      expect((await create({ name: fresh, ...wrong })).status).toBe(422);
    expect((await ask('GET', `${S}/zones?zone=${fresh}`)).body).toEqual([]);
    const nameservers = ['ns2.example.net.', 'ns1.example.net.'];
    const made = await create({ name: fresh, kind: 'Master', account: 'me', nameservers, rrsets: [www] });
    expect([made.status, made.body]).toMatchObject([
      201,
      { id: fresh, kind: 'Master', account: 'me', soa_edit_api: 'DEFAULT', url: `${S}/zones/${fresh}` },
    ]);
    expect(made.body.rrsets).toHaveLength(3);
    expect((await create({ name: fresh })).status).toBe(409);
    expect((await ask('DELETE', `${S}/zones/${fresh}`)).status).toBe(204);
  });

  it('become copies of a primary, and ordinary zones again', async () => {
    await patch(rrset('a', 'A', ['192.0.2.1']));
    const put = (body: object) => ask('PUT', zone, body);
    expect((await put({ kind: 'Slave' })).status).toBe(422);
    expect((await put({ kind: 'Slave', masters: ['198.41.0.4', '[2001:503:ba3e::2:30]:5300'] })).status).toBe(
      204,
    );
    const { body } = await ask('GET', `${zone}?rrsets=false`);
    expect([body.kind, body.masters]).toEqual(['Slave', ['198.41.0.4', '[2001:503:ba3e::2:30]:5300']]);
    expect((await api.ask('GET', `/domains/${name}/primaries`)).body.primaries).toHaveLength(2);
    expect((await patch(rrset('b', 'A', ['192.0.2.1']))).status).toBe(422);
    expect((await ask('PUT', `${zone}/axfr-retrieve`)).status).toBe(200);
    expect((await put({ kind: 'Native', masters: [] })).status).toBe(204);
    expect([(await ask('GET', `${zone}?rrsets=false`)).body.kind, await sets()]).toEqual([
      'Native',
      ['a 300 A 192.0.2.1'],
    ]);
    const audited = await api.query`select from audit_log where action = 'primaries.edit'`;
    expect(audited.length).toBeGreaterThanOrEqual(2);
  });

  it('are replaced as a whole by PUT with rrsets, and signed by dnssec', async () => {
    await patch(rrset('a', 'A', ['192.0.2.1']), rrset('b', 'A', ['192.0.2.1']));
    const put = await ask('PUT', zone, {
      dnssec: true,
      rrsets: [rrset('b', 'A', ['192.0.2.2']), rrset('c', 'A', ['192.0.2.3'])],
    });
    expect([put.status, await sets()]).toEqual([204, ['b 300 A 192.0.2.2', 'c 300 A 192.0.2.3']]);
    expect((await ask('GET', `${zone}?rrsets=false`)).body.dnssec).toBe(true);
    const [key] = (await ask('GET', `${zone}/cryptokeys`)).body;
    expect(key).toMatchObject({
      keytype: 'csk',
      algorithm: 'ECDSAP256SHA256',
      flags: 257,
      ds: [expect.any(String), expect.any(String)],
    });
    expect(Object.keys(key)).not.toContain('privatekey');
    expect((await ask('PUT', zone, { rrsets: [rrset('b', 'A', ['x'])], dnssec: false })).status).toBe(422);
    expect((await api.ask('GET', `/domains/${name}/dnssec`)).body.goal).toBe('signed');
  });

  it('are listed in pieces, and large ones are shown whole', async () => {
    const zones = Array.from({ length: 3000 }, (_, i) =>
      rrset(`h${String(i).padStart(4, '0')}`, 'A', ['192.0.2.1']),
    );
    expect((await ask('PATCH', zone, { rrsets: zones })).status).toBe(204);
    expect(await sets()).toHaveLength(3000);
    const file = await ask('GET', `${zone}/export`);
    expect(file.text.split('\n')).toHaveLength(3000 + 3 + 1);
    const listed = (await ask('GET', `${S}/zones`)).body.map((each: { id: string }) => each.id);
    expect(listed).toContain(`${name}.`);
  });
});

it('metadata reads and writes the secondaries and the update grants of the domain', async () => {
  const metadata = `${zone}/metadata`;
  const put = async (kind: string, ...values: string[]) => {
    const { status, body } = await ask('PUT', `${metadata}/${kind}`, { metadata: values });
    return [status, body.metadata ?? body.error];
  };
  const peer = { name: 'peer', algorithm: 'hmac-sha256' };
  expect((await ask('POST', `${S}/tsigkeys`, { ...peer, key: 5 })).status).toBe(422);
  const { body: key } = await ask('POST', `${S}/tsigkeys`, peer);
  expect(key).toMatchObject({
    id: expect.stringMatching(/^peer-\w{6}\.$/),
    key: expect.stringMatching(/^.{44}$/),
  });
  const networks = ['192.0.2.0/24', '198.51.100.7/32', '203.0.113.0/24', '2001:db8::/48', '192.0.2.9/32'];
  expect(await put('ALLOW-AXFR-FROM', ...networks.with(1, '198.51.100.7'))).toEqual([200, networks]);
  expect(await put('ALSO-NOTIFY', '198.41.0.4', '199.9.14.201:5300')).toEqual([
    200,
    ['198.41.0.4', '199.9.14.201:5300'],
  ]);
  expect((await ask('PUT', zone, { master_tsig_key_ids: [key.id] })).status).toBe(204);
  expect((await ask('GET', zone)).body.master_tsig_key_ids).toEqual([key.id]);
  expect(await put('TSIG-ALLOW-AXFR', key.id)).toEqual([200, [key.id]]);
  expect(await put('TSIG-ALLOW-DNSUPDATE', key.name, key.id)).toEqual([200, [key.id]]);
  expect(await put('X-OWNER', 'team')).toEqual([200, ['team']]);
  const { secondaries } = (await api.ask('GET', `/domains/${name}/secondaries`)).body;
  expect(
    secondaries.map((each: { networks: string[]; addresses: string[] }) => [
      ...each.networks,
      ...each.addresses,
    ]),
  ).toEqual([networks.slice(0, 4), networks.slice(4), ['198.41.0.4'], ['199.9.14.201'], []]);
  expect((await api.ask('GET', `/domains/${name}/update-grants`)).body.grants).toMatchObject([
    { name: '@', match: 'subtree', types: null },
  ]);
  // A network that remains keeps its secondary.
  await put('ALLOW-AXFR-FROM', ...networks.slice(4));
  expect((await api.ask('GET', `/domains/${name}/secondaries`)).body.secondaries[0].id).toBe(
    secondaries[1].id,
  );
  expect(await put('TSIG-ALLOW-DNSUPDATE')).toEqual([200, []]);
  for (const [kind, value, why] of [
    ['ALLOW-AXFR-FROM', '0.0.0.0/0', 'expected a network of at most'],
    ['ALLOW-AXFR-FROM', 'AUTO-NS', 'AUTO-NS has no equivalent'],
    ['ALSO-NOTIFY', '10.0.0.1', 'is not a public address'],
    ['TSIG-ALLOW-AXFR', 'other.', 'has no TSIG key'],
    ['AXFR-MASTER-TSIG', key.id, 'the zone has no masters'],
    ['IXFR', '1', 'has no equivalent'],
  ] as const)
    expect(await put(kind, value)).toEqual([422, expect.stringContaining(why)]);
  const kinds = (await ask('GET', metadata)).body.map((each: { kind: string }) => each.kind);
  expect(kinds).toEqual(['ALLOW-AXFR-FROM', 'ALSO-NOTIFY', 'TSIG-ALLOW-AXFR', 'X-OWNER']);
  expect((await ask('DELETE', `${S}/tsigkeys/${key.id}`)).status).toBe(422);
  await put('TSIG-ALLOW-AXFR');
  expect((await ask('DELETE', `${S}/tsigkeys/${key.id}`)).status).toBe(204);
});

it('a search finds names, contents and comments in the domains of the caller', async () => {
  await patch(rrset('findme', 'CNAME', ['t.example.'], { comments: [{ content: 'of 100%_sure' }] }));
  const search = async (query: string, as = 'owner') =>
    (await ask('GET', `${S}/search-data?q=${encodeURIComponent(query)}&max=50`, undefined, as)).body.map(
      (each: { object_type: string; name: string }) => `${each.object_type} ${each.name}`,
    );
  const record = `record findme.${name}.`;
  expect(await search('findme*')).toEqual([record]);
  expect(await search(`findme.${name}.`)).toEqual([record]);
  expect(await search('t.example?')).toEqual([]);
  expect(await search('*0%_s*')).toEqual([`comment findme.${name}.`]);
  expect(await search(`*${name}`, 'stranger')).toEqual([]);
  expect(await search(`*${name}`, await api.makeKey({ domains: ['other.example'] }))).toEqual([]);
});

it('a search waits for earlier searches of the account, and is refused if many wait', async () => {
  const asked = await api.db.transaction().execute(async (trx) => {
    await sql`lock table records in access exclusive mode`.execute(trx);
    const asked = Array.from({ length: 12 }, () => ask('GET', `${S}/search-data?q=x&object_type=record`));
    const { status, headers } = await Promise.race(asked);
    expect([status, headers['retry-after']]).toEqual([429, '1']);
    return asked;
  });
  const statuses = (await Promise.all(asked)).map((each) => each.status);
  expect(statuses.sort()).toEqual([...Array(11).fill(200), 429]);
});

describe('callers', () => {
  const acme = () => api.makeKey({ domains: [name], names: [`_acme-challenge.${name}`], types: ['TXT'] });
  const change = (label: string, type = 'TXT') => ({ rrsets: [rrset(label, type, ['"x"'])] });

  it('may present an API key as X-API-Key, bearer token or password', async () => {
    const basic = { authorization: `Basic ${btoa(`any:${api.keys.owner}`)}` };
    expect((await api.ask('GET', '/api', { as: null, headers: basic })).status).toBe(200);
    expect((await api.ask('GET', '/api')).status).toBe(200);
    const { status, body, headers } = await ask('GET', zone, undefined, 'dns_wrong');
    expect([status, body, headers['www-authenticate']]).toEqual([
      401,
      { error: 'Unauthorized' },
      'X-API-Key realm="PowerDNS"',
    ]);
  });

  it('have the same rights as at /domains', async () => {
    const readOnly = await api.makeKey({ readOnly: true });
    const narrowed = await acme();
    const zonesOf = async (as: string) =>
      (await ask('GET', `${S}/zones`, undefined, as)).body.filter(
        ({ id }: { id: string }) => id === `${name}.`,
      ).length;
    expect(await Promise.all([zonesOf('viewer'), zonesOf('stranger'), zonesOf(narrowed)])).toEqual([1, 0, 1]);
    for (const [status, method, path, body, as] of [
      [200, 'GET', zone, undefined, 'viewer'],
      [403, 'PATCH', zone, change('a'), 'viewer'],
      [204, 'PATCH', zone, change('a'), 'editor'],
      [403, 'PUT', zone, {}, 'editor'],
      [403, 'DELETE', zone, undefined, 'admin'],
      [404, 'GET', zone, undefined, 'stranger'],
      [404, 'PATCH', zone, change('a'), 'stranger'],
      [403, 'PATCH', zone, change('a'), readOnly],
      [403, 'PUT', `${zone}/notify`, undefined, readOnly],
      [200, 'PUT', `${zone}/rectify`, undefined, readOnly],
      [200, 'PUT', `${zone}/rectify`, undefined, narrowed],
      [404, 'PUT', `${zone}/rectify`, undefined, 'stranger'],
      [200, 'PUT', `${S}/cache/flush?domain=${name}.`, undefined, readOnly],
      [403, 'POST', `${S}/zones`, { name: 'x.example.', kind: 'Native' }, readOnly],
      [204, 'PATCH', zone, change('_acme-challenge'), narrowed],
      [200, 'PUT', `${zone}/notify`, undefined, narrowed],
      [403, 'PATCH', zone, change('a'), narrowed],
      [
        403,
        'PATCH',
        zone,
        { rrsets: [rrset('_acme-challenge', 'A', [], { changetype: 'DELETE' })] },
        narrowed,
      ],
      [403, 'PUT', zone, {}, narrowed],
      [403, 'DELETE', zone, undefined, narrowed],
      [403, 'POST', `${S}/zones`, { name: 'x.example.', kind: 'Native' }, narrowed],
      [403, 'GET', `${zone}/metadata`, undefined, narrowed],
      [403, 'PUT', `${zone}/metadata/X-A`, { metadata: ['a'] }, narrowed],
      [403, 'GET', `${S}/tsigkeys`, undefined, narrowed],
      [403, 'POST', `${S}/tsigkeys`, { name: 'k', algorithm: 'hmac-sha256' }, narrowed],
      [404, 'GET', zone, undefined, await api.makeKey({ domains: ['other.example'] })],
    ] as const)
      expect([(await ask(method, path, body, as)).status, method, path, as]).toEqual([
        status,
        method,
        path,
        as,
      ]);
    await api.query`update accounts set provider_id = ${api.accountIds.admin} where id = ${api.accountIds.owner}`;
    try {
      const { status, body } = await ask('POST', `${S}/zones`, { name: 'x.example.', kind: 'Native' });
      expect([status, body.error]).toEqual([403, 'this account is managed by its reseller']);
    } finally {
      await api.query`update accounts set provider_id = null where id = ${api.accountIds.owner}`;
    }
  });
});
