import { describe, expect, it } from 'vitest';
import type { HeldZone } from '../../../src/checks/delegation/held-zone.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import {
  COM_A,
  COM_B,
  comInternet,
  dice,
  failure,
  internet,
  outcomesOf,
  ROOT_A,
  ROOT_B,
  testResolver,
  walked,
} from '../../support/world/test-resolver.ts';
import {
  type Conduct,
  name,
  recordsIn,
  reply,
  type ZoneExchange,
  zone,
} from '../../support/world/zone-exchange.ts';

const DELEGATED = 'example NS ns1.host.net.\nexample NS ns2.host.net.\nunused A 192.5.6.99';
const REFERRAL = 'referral ns1.host.net. ns2.host.net.';
const TO_1 = 'referral ns1.host.net.';
const REFUSED = reply({ rcode: RCODE.REFUSED });
const twice = (outcome: string) => [outcome, outcome];

/** com with these records, at both of its servers. */
const com = (text: string) => zone('com.', `@ NS a.gtld.\n@ NS b.gtld.\n${text}`);
const serveCom = (exchange: ZoneExchange, ...zones: ReturnType<typeof zone>[]) =>
  exchange.serve(COM_A, ...zones).serve(COM_B, ...zones);
const behaveCom = (exchange: ZoneExchange, conduct: Conduct) =>
  exchange.behave(COM_A, conduct).behave(COM_B, conduct);

describe('a domain below a top-level domain', () => {
  it('is observed at two addresses of its parent, after one query of the walk, and later without any', async () => {
    const exchange = comInternet(DELEGATED);
    const { observe, clock, taken } = testResolver(exchange);
    const evidence = await observe('Example.COM');
    const { now } = clock;
    expect(evidence).toMatchObject({
      ...{ domain: name('example.com'), parent: name('com'), parentAddresses: 2, failure: undefined },
      ...{ queries: 3, startedAt: now, finishedAt: now },
    });
    expect(walked(evidence)).toBe('(.) com.');
    expect(evidence.walk.map(({ servers }) => servers.map(printName))).toEqual([
      ['a.root.', 'b.root.'],
      ['a.gtld.', 'b.gtld.'],
    ]);
    expect(outcomesOf(evidence)).toEqual(twice(REFERRAL));
    const servers = evidence.servers.map(({ server, address }) => `${printName(server)} ${address}`);
    expect(servers.sort()).toEqual([`a.gtld. ${COM_A}`, `b.gtld. ${COM_B}`]);
    expect(evidence.servers[0]).toMatchObject({
      ...{ transport: 'udp', askedAt: now, rttMs: 10, rcode: RCODE.NOERROR, aa: false, ttl: 3600 },
      ...{ ds: [], error: undefined },
    });
    expect(exchange.takeAsked()[0]).toMatch(/^\S+ com\. NS$/);
    taken.length = 0;
    const again = await observe('example.com');
    expect([again.queries, walked(again)]).toEqual([2, '(.) (com.)']);
    const both = [COM_A, COM_B].sort();
    expect(exchange.takeAsked().sort()).toEqual(both.map((address) => `${address} example.com. NS`));
    expect(taken.sort()).toEqual(both);
  });

  it('is queried at its parent each time, regardless of the cache', async () => {
    const exchange = comInternet(DELEGATED);
    const { observe } = testResolver(exchange);
    await observe('example.com');
    const moved = com('example NS ns.other.org.');
    serveCom(exchange, moved);
    expect(outcomesOf(await observe('example.com'))).toEqual(twice('referral ns.other.org.'));
    // Even after a walk through the domain has cached it as a zone.
    exchange.serve('5.5.5.5', zone('example.com.', '@ NS ns.example.com.\nns A 5.5.5.5'));
    serveCom(exchange, com('example NS ns.example\nns.example A 5.5.5.5'));
    expect((await observe('sub.example.com')).parent).toBe(name('example.com'));
    serveCom(exchange, moved);
    expect(outcomesOf(await observe('example.com'))).toEqual(twice('referral ns.other.org.'));
  });

  it.each(
    rowsOf(`
is not registered | nothing | nxdomain
is not delegated | there | nodata
is an empty name | deep | nodata
is an alias | alias | alias
is below a DNAME | x.old | alias
is made by a wildcard | some.apps | nodata
is an alias made by a wildcard | some.links | alias
is below an alias made by a wildcard | a.b.links | alias`),
  )('may be a name that %s', async (_, label, outcome = '') => {
    const text = 'there A 192.5.6.9\nalias CNAME x.net.\nold DNAME new.com.\nent.deep A 192.5.6.9';
    const { observe } = testResolver(comInternet(`${text}\n*.apps A 192.5.6.9\n*.links CNAME x.net.`));
    const evidence = await observe(`${label}.com`);
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('com'), twice(outcome)]);
    if (label === 'nothing')
      expect(evidence.servers[0]).toMatchObject({ aa: true, rcode: 3, ttl: 600, ns: [] });
  });

  it('has its DS set in the referral', async () => {
    const digest = 'ab'.repeat(32);
    const { observe } = testResolver(comInternet(`${DELEGATED}\nexample DS 12345 8 2 ${digest}`));
    const [server] = (await observe('example.com')).servers;
    expect(server?.ds.map((rdata) => Buffer.from(rdata).toString('hex'))).toEqual([`30390802${digest}`]);
  });
});

describe('the parent', () => {
  it('may be the root, which has none itself', async () => {
    const { observe } = testResolver(comInternet(''));
    const evidence = await observe('com');
    expect(evidence).toMatchObject({ parent: name('.'), queries: 2, parentAddresses: 2 });
    expect(outcomesOf(evidence)).toEqual(twice('referral a.gtld. b.gtld.'));
    expect(outcomesOf(await observe('nothing'))).toEqual(twice('nxdomain'));
    await expect(observe('.')).rejects.toThrow(RangeError);
  });

  it('may be on the servers of its own parent', async () => {
    const [a, b] = ['156.154.100.3', '156.154.101.3'];
    const ns = '@ NS a.nic.uk.\n@ NS b.nic.uk.';
    const uk = zone('uk.', `${ns}\na.nic A ${a}\nb.nic A ${b}\nco NS a.nic.uk.\nco NS b.nic.uk.`);
    const co = zone('co.uk.', `${ns}\nshop NS ns1.host.net.`);
    const exchange = internet(`uk NS a.nic.uk.\nuk NS b.nic.uk.\na.nic.uk A ${a}\nb.nic.uk A ${b}`);
    const { observe } = testResolver(exchange.serve(a, uk, co).serve(b, uk, co));
    const evidence = await observe('shop.co.uk');
    expect([evidence.parent, walked(evidence)]).toEqual([name('co.uk'), '(.) uk. co.uk.']);
    expect([evidence.queries, outcomesOf(evidence)]).toEqual([4, twice(TO_1)]);
    expect((await observe('shop.co.uk')).queries).toBe(2);
  });

  it('is found by cuts, through empty names and three labels down', async () => {
    const jp = zone(
      'jp.',
      '@ NS a.dns.jp.\na.dns A 203.119.1.1\ncity.kobe NS ns.kobe.jp.\nns.kobe A 203.119.1.2\nx.y.z NS ns1.host.net.',
    );
    const exchange = internet('jp NS a.dns.jp.\na.dns.jp A 203.119.1.1')
      .serve('203.119.1.1', jp)
      .serve('203.119.1.2', zone('city.kobe.jp.', '@ NS ns.kobe.jp.\nlib NS ns1.host.net.'));
    const { observe } = testResolver(exchange);
    const evidence = await observe('lib.city.kobe.jp');
    expect(walked(evidence)).toBe('(.) jp. city.kobe.jp.');
    expect(evidence).toMatchObject({ parent: name('city.kobe.jp'), parentAddresses: 1 });
    expect(outcomesOf(evidence)).toEqual([TO_1]);
    const deep = await observe('x.y.z.jp');
    expect([deep.parent, outcomesOf(deep)]).toEqual([name('jp'), [TO_1]]);
    expect((await observe('x.y.z.jp')).queries).toBe(1);
  });

  it('may deny the empty names above the domain', async () => {
    const exchange = serveCom(comInternet(''), com('x.y.z NS ns1.host.net.\nb NS ns.b\nns.b A 5.5.5.5'));
    behaveCom(exchange, ({ name: asked, honest }) =>
      asked === 'z.com.' || asked === 'y.z.com.' ? { ...honest(), rcode: RCODE.NXDOMAIN } : undefined,
    );
    const { observe } = testResolver(exchange);
    const evidence = await observe('x.y.z.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('com'), twice(TO_1)]);
    expect((await observe('x.y.z.com')).queries).toBe(2); // the lie is cached
    // If no name exists, that is believed: two more queries than for the name above.
    expect(outcomesOf(await observe('x.nothing.com'))).toEqual(twice('nxdomain'));
    expect((await observe('x.nothing.com')).queries).toBe(2);
  });

  it('may have servers that also serve the domain: further ones are queried', async () => {
    const [C, D] = ['192.26.92.30', '192.26.92.31'];
    const own = com('example NS parent.host.net.');
    const child = zone('example.com.', '@ NS child.host.net.');
    const root = (third: string) =>
      zone(
        '.',
        `@ NS a.root.\n@ NS b.root.\ncom NS a.gtld.\ncom NS c.gtld.\na.gtld. A ${COM_A}\nc.gtld. A ${third}`,
      );
    const both = internet('').serve(COM_A, own, child).serve(C, own, child).serve(D, own);
    both.serve(ROOT_A, root(C)).serve(ROOT_B, root(C));
    const answers = await testResolver(both).observe('example.com');
    expect(outcomesOf(answers)).toEqual(twice('answer child.host.net.'));
    expect(answers.servers.every(({ aa }) => aa)).toBe(true);
    both.serve(ROOT_A, root(D)).serve(ROOT_B, root(D));
    const mixed = await testResolver(both).observe('example.com');
    expect(outcomesOf(mixed)).toEqual(['answer child.host.net.', 'referral parent.host.net.']);
  });

  it('may be new: the walk follows a referral to it', async () => {
    const exchange = comInternet('x.dept NS ns1.host.net.');
    const { observe } = testResolver(exchange);
    expect((await observe('x.dept.com')).parent).toBe(name('com'));
    serveCom(exchange, com('dept NS ns.dept\nns.dept A 5.5.5.5')).serve(
      '5.5.5.5',
      zone('dept.com.', '@ NS ns\nns A 5.5.5.5\nx NS ns9.host.net.'),
    );
    const evidence = await observe('x.dept.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('dept.com'), ['referral ns9.host.net.']]);
    expect(walked(evidence)).toBe('(.) (com.) dept.com.');
    expect((await observe('x.dept.com')).queries).toBe(1);
  });

  it('may be new on the same servers', async () => {
    const exchange = comInternet('x.dept A 192.5.6.9');
    const { observe } = testResolver(exchange);
    expect(outcomesOf(await observe('x.dept.com'))).toEqual(twice('nodata'));
    serveCom(exchange, zone('dept.com.', '@ NS a.gtld.\n@ NS b.gtld.\nother A 192.5.6.9'));
    const evidence = await observe('x.dept.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('dept.com'), twice('nxdomain')]);
  });

  it('may have servers that answer for a zone below it, and deny that it is one', async () => {
    const authorities = recordsIn([zone('dept.com.', '@ NS a.gtld.').soa]);
    const exchange = behaveCom(comInternet('x.dept A 192.5.6.9'), ({ name: asked }) =>
      asked.endsWith('x.dept.com.') ? reply({ aa: true, rcode: RCODE.NXDOMAIN, authorities }) : undefined,
    );
    const { observe } = testResolver(exchange);
    for (const domain of ['x.dept.com', 'y.x.dept.com', 'z.y.x.dept.com']) {
      const evidence = await observe(domain);
      expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('com'), twice('lame')]);
      expect(evidence.queries).toBeLessThan(12);
    }
  });

  it('may have servers that serve the domain as a zone without NS', async () => {
    const authorities = recordsIn([zone('example.com.', '@ NS a.gtld.').soa]);
    const exchange = comInternet(DELEGATED).behave(COM_A, ({ name: asked }) =>
      asked === 'example.com.' ? reply({ aa: true, authorities }) : undefined,
    );
    const evidence = await testResolver(exchange).observe('example.com');
    expect(outcomesOf(evidence)).toEqual(['lame', REFERRAL]);
    expect(evidence.servers.map(({ error }) => error)).toContain('its SOA is not that of the parent zone');
  });

  it('counts a nameserver without a known address as one address', async () => {
    const root = `com NS a.gtld.\ncom NS b.gtld.\ncom NS c.nowhere.\na.gtld. A ${COM_A}\nb.gtld. A ${COM_B}`;
    const exchange = serveCom(internet(root), com('example NS ns1.host.net.'));
    const evidence = await testResolver(exchange).observe('example.com');
    expect([evidence.parentAddresses, evidence.servers.length]).toEqual([3, 2]);
  });
});

describe('servers of the parent that fail', () => {
  const seven = Array.from({ length: 7 }, (_, i) => `192.5.6.3${i}`);
  const own = zone('com.', `${seven.map((_, i) => `@ NS ${i}.gtld.`).join('\n')}\n${DELEGATED}`);
  const world = () => {
    const text = seven.map((address, i) => `com NS ${i}.gtld.\n${i}.gtld. A ${address}`).join('\n');
    return seven.reduce((exchange, address) => exchange.serve(address, own), internet(text));
  };

  it('are replaced by another one, and not queried again soon', async () => {
    const exchange = world();
    let first: string | undefined;
    for (const address of seven) {
      exchange.behave(address, ({ name: asked }) => {
        if (asked !== 'example.com.') return undefined;
        first ??= address;
        return first === address ? 'silent' : undefined;
      });
    }
    const { observe } = testResolver(exchange);
    const evidence = await observe('example.com');
    expect(outcomesOf(evidence)).toEqual([REFERRAL, REFERRAL, 'timeout']);
    expect(evidence.queries).toBe(1 + 2 + 1 + 1);
    for (let i = 0; i < 20; i++) expect(outcomesOf(await observe('example.com'))).toEqual(twice(REFERRAL));
  });

  it('are at most six', async () => {
    const exchange = world();
    for (const address of seven)
      exchange.behave(address, ({ name: asked }) => (asked === 'com.' ? undefined : 'silent'));
    const evidence = await testResolver(exchange).observe('example.com');
    expect(outcomesOf(evidence)).toEqual(Array<string>(6).fill('timeout'));
    const parts = { parent: name('com'), parentAddresses: 7, failure: undefined, queries: 13 };
    expect(evidence).toMatchObject(parts);
  });

  it('are distinguished by outcome and error', async () => {
    const exchange = world();
    const apex = recordsIn([...(own.nodes.get(own.apex)?.sets.values() ?? [])]);
    const faults: [ReturnType<Conduct>, string, string?][] = [
      ['silent', 'timeout'],
      ['bad', 'bad', 'refused by the kernel'],
      [REFUSED, 'refused'],
      [reply({ rcode: RCODE.SERVFAIL }), 'servfail'],
      [reply({ authorities: apex }), 'lame', 'it refers upwards to com.'],
      [reply({ rcode: RCODE.NOTIMP, aa: true }), 'bad', 'NOTIMP'],
      [reply({ aa: true }), 'lame', 'no data without an SOA'],
    ];
    for (const [i, address] of seven.entries()) exchange.behave(address, () => faults[i]?.[0]);
    const { observe } = testResolver(exchange, { limits: { parentAddresses: 7 } });
    const seen = new Map((await observe('example.com')).servers.map((server) => [server.address, server]));
    expect(seven.map((address) => [seen.get(address)?.outcome, seen.get(address)?.error])).toEqual(
      faults.map(([, outcome, error]) => [outcome, error]),
    );
  });

  it('during the walk are replaced by the next one', async () => {
    const exchange = comInternet('deep.example NS ns1.host.net.');
    for (const broken of ['silent', 'bad', reply({ rcode: RCODE.SERVFAIL })] as const) {
      exchange.behave(COM_A, ({ name: asked }) => (asked === 'example.com.' ? broken : undefined));
      for (const seed of [1, 2, 3, 4]) {
        const evidence = await testResolver(exchange, { random: dice(seed) }).observe('deep.example.com');
        expect(outcomesOf(evidence)).toEqual(twice(TO_1));
      }
    }
  });
});

describe('a zone that this fleet serves', () => {
  const held: HeldZone = {
    ...{ zone: name('fleet.com'), cut: undefined, ns: [], ds: [], glue: [], ttl: 300 },
    ...{ exists: false, alias: false },
  };
  const observeHeld = (part: Partial<HeldZone>) => {
    const unreachable = internet('').behave(ROOT_A, () => 'bad');
    const { observe } = testResolver(unreachable.behave(ROOT_B, () => 'bad'));
    return observe('shop.fleet.com', { held: { ...held, ...part } });
  };

  it('proves its delegations without queries to servers', async () => {
    const ns = [name('NS2.host.net'), name('ns1.host.net')];
    const ds = [Uint8Array.of(1, 2)];
    const evidence = await observeHeld({ cut: name('shop.fleet.com'), ns, ds });
    expect(evidence).toMatchObject({ parent: name('fleet.com'), parentAddresses: 1, queries: 0 });
    expect(walked(evidence)).toBe('(fleet.com.)');
    expect(evidence.servers).toEqual([
      expect.objectContaining({
        ...{ server: name('fleet.com'), address: '', transport: 'database', outcome: 'referral' },
        ...{ ns: [name('ns1.host.net'), name('ns2.host.net')], ds, ttl: 300, rttMs: undefined },
      }),
    ]);
  });

  it.each<[Partial<HeldZone>, string]>([
    [{}, 'nxdomain'],
    [{ exists: true }, 'nodata'],
    [{ exists: true, alias: true }, 'alias'],
  ])('with %j at the name proves %s', async (part, outcome) => {
    expect(outcomesOf(await observeHeld(part))).toEqual([outcome]);
  });

  it('is the start of the walk if it delegates a name above the domain', async () => {
    const dept = zone('dept.fleet.com.', '@ NS ns\nns A 5.5.5.5\nshop NS ns1.host.net.');
    const ns = name('ns.dept.fleet.com');
    const above = { ...held, cut: dept.apex, ns: [ns], glue: [{ name: ns, address: '5.5.5.5' }] };
    const { observe } = testResolver(internet('').serve('5.5.5.5', dept));
    const evidence = await observe('shop.dept.fleet.com', { held: above });
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([dept.apex, [TO_1]]);
    expect(walked(evidence)).toBe('(fleet.com.) (dept.fleet.com.)');
    expect([evidence.queries, evidence.walk[0]?.servers]).toEqual([1, []]);
  });
});

describe('a walk that fails', () => {
  it('reports that no server answered, and is not repeated for a second at first', async () => {
    const exchange = comInternet(DELEGATED).behave(ROOT_A, () => 'silent');
    exchange.behave(ROOT_B, () => 'silent');
    const { observe, clock } = testResolver(exchange);
    const evidence = await observe('example.com');
    expect([failure(evidence), walked(evidence)]).toEqual(['unreachable at .', '(.)']);
    expect(evidence).toMatchObject({ parent: undefined, servers: [], parentAddresses: 0, queries: 4 });
    expect(await observe('example.com')).toMatchObject({ queries: 0, failure: { reason: 'unreachable' } });
    expect((await observe('other.com')).queries).toBe(0);
    for (const queries of [4, 0]) {
      clock.now += 1000;
      expect((await observe('example.com')).queries).toBe(queries);
    }
    clock.now += 1000;
    exchange.behave(ROOT_B, () => undefined);
    expect(failure(await observe('example.com'))).toBe(undefined);
  });

  it('reports that the servers do not serve the zone', async () => {
    const exchange = behaveCom(comInternet(DELEGATED), () => REFUSED);
    const evidence = await testResolver(exchange).observe('www.example.com');
    expect(failure(evidence)).toBe('lame at com.');
    expect(evidence.failure?.message).toBe('no useful reply from the servers of com.: refused');
  });

  it('reports that no address may be queried', async () => {
    const exchange = internet('com NS a.gtld.\na.gtld. A 10.0.0.1\na.gtld. A 127.0.0.1\na.gtld. AAAA ::1');
    const evidence = await testResolver(exchange, { hasIpv6: true }).observe('example.com');
    expect([failure(evidence), evidence.parent]).toEqual(['no_address at com.', name('com')]);
    const roots = new Set([ROOT_A, ROOT_B]);
    expect(exchange.asked.filter((text) => !roots.has(text.split(' ')[0] as string))).toEqual([]);
  });

  it('queries the delegation of the parent again if all its servers have become useless', async () => {
    const exchange = comInternet('dept NS ns.dept\nns.dept A 5.5.5.5');
    exchange.serve('5.5.5.5', zone('dept.com.', '@ NS ns\nns A 5.5.5.5\nshop NS ns1.host.net.'));
    const { observe, clock } = testResolver(exchange);
    expect(outcomesOf(await observe('shop.dept.com'))).toEqual([TO_1]);
    serveCom(exchange, com('dept NS ns.dept\nns.dept A 5.5.5.6')).behave('5.5.5.5', () => REFUSED);
    exchange.serve('5.5.5.6', zone('dept.com.', '@ NS ns\nns A 5.5.5.6\nshop NS ns2.host.net.'));
    // Not immediately: servers that fail would cost their parent a query each time.
    expect(outcomesOf(await observe('shop.dept.com'))).toEqual(['refused']);
    clock.now += 300_000;
    const evidence = await observe('shop.dept.com');
    expect([evidence.queries, outcomesOf(evidence)]).toEqual([3, ['referral ns2.host.net.']]);
    expect(walked(evidence)).toBe('(.) (com.) dept.com.');
  });
});
