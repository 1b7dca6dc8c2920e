import { describe, expect, it } from 'vitest';
import type { HeldZone } from '../../../src/checks/delegation/held-zone.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import {
  COM_A,
  COM_B,
  comInternet,
  failure,
  internet,
  outcomesOf,
  ROOT_A,
  ROOT_B,
  testResolver,
  walked,
} from '../../support/world/test-resolver.ts';
import { name, recordsIn, reply, zone } from '../../support/world/zone-exchange.ts';

const DELEGATED = 'example NS ns1.host.net.\nexample NS ns2.host.net.\nunused A 192.5.6.99';
const REFERRAL = 'referral ns1.host.net. ns2.host.net.';

describe('a domain below a top-level domain', () => {
  it('is observed at two addresses of its parent, with one question on the way', async () => {
    const exchange = comInternet(DELEGATED);
    const { observe, clock } = testResolver(exchange);
    const evidence = await observe('Example.COM');
    expect(evidence).toMatchObject({
      domain: name('example.com'),
      parent: name('com'),
      parentAddresses: 2,
      failure: undefined,
      queries: 3,
      startedAt: clock.now,
      finishedAt: clock.now,
    });
    expect(walked(evidence)).toBe('(.) com.');
    expect(evidence.walk.map(({ servers }) => servers.map(printName))).toEqual([
      ['a.root.', 'b.root.'],
      ['a.gtld.', 'b.gtld.'],
    ]);
    expect(outcomesOf(evidence)).toEqual([REFERRAL, REFERRAL]);
    const servers = evidence.servers.map(({ server, address }) => `${printName(server)} ${address}`);
    expect(servers.sort()).toEqual([`a.gtld. ${COM_A}`, `b.gtld. ${COM_B}`]);
    expect(evidence.servers[0]).toMatchObject({
      transport: 'udp',
      askedAt: clock.now,
      rttMs: 10,
      rcode: RCODE.NOERROR,
      aa: false,
      ttl: 3600,
      ds: [],
      error: undefined,
    });
    expect(exchange.asked[0]).toMatch(/^\S+ com\. NS$/);
  });

  it('costs two packets when the way is known', async () => {
    const exchange = comInternet(DELEGATED);
    const { observe, taken } = testResolver(exchange);
    await observe('example.com');
    exchange.takeAsked();
    taken.length = 0;
    const evidence = await observe('example.com');
    expect(evidence.queries).toBe(2);
    expect(walked(evidence)).toBe('(.) (com.)');
    expect(exchange.takeAsked().sort()).toEqual(
      [`${COM_B} example.com. NS`, `${COM_A} example.com. NS`].sort(),
    );
    expect(taken.sort()).toEqual([COM_A, COM_B].sort());
  });

  it('is asked for at its parent each time, whatever has been seen', async () => {
    const exchange = comInternet(DELEGATED);
    const { observe } = testResolver(exchange);
    await observe('example.com');
    const moved = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nexample NS ns.other.org.');
    exchange.serve(COM_A, moved).serve(COM_B, moved);
    expect(outcomesOf(await observe('example.com'))).toEqual([
      'referral ns.other.org.',
      'referral ns.other.org.',
    ]);
    // Even after a walk through the domain has learned of it as a zone.
    exchange.serve('5.5.5.5', zone('example.com.', '@ NS ns.example.com.\nns A 5.5.5.5'));
    const delegated = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nexample NS ns.example\nns.example A 5.5.5.5');
    exchange.serve(COM_A, delegated).serve(COM_B, delegated);
    expect((await observe('sub.example.com')).parent).toBe(name('example.com'));
    exchange.serve(COM_A, moved).serve(COM_B, moved);
    expect(outcomesOf(await observe('example.com'))).toEqual([
      'referral ns.other.org.',
      'referral ns.other.org.',
    ]);
  });

  it('may be not registered, not delegated, or an alias', async () => {
    const exchange = comInternet(
      'there A 192.5.6.9\nalias CNAME x.net.\nold DNAME new.com.\nent.deep A 192.5.6.9',
    );
    const { observe } = testResolver(exchange);
    expect(outcomesOf(await observe('nothing.com'))).toEqual(['nxdomain', 'nxdomain']);
    expect(outcomesOf(await observe('there.com'))).toEqual(['nodata', 'nodata']);
    expect(outcomesOf(await observe('deep.com'))).toEqual(['nodata', 'nodata']);
    expect(outcomesOf(await observe('alias.com'))).toEqual(['alias', 'alias']);
    const below = await observe('x.old.com');
    expect(outcomesOf(below)).toEqual(['alias', 'alias']);
    expect(below.parent).toBe(name('com'));
    expect((await observe('nothing.com')).servers[0]).toMatchObject({ aa: true, rcode: 3, ttl: 600, ns: [] });
  });

  it('has its DS beside the referral', async () => {
    const digest = 'ab'.repeat(32);
    const { observe } = testResolver(comInternet(`${DELEGATED}\nexample DS 12345 8 2 ${digest}`));
    const [server] = (await observe('example.com')).servers;
    expect(server?.ds.map((rdata) => Buffer.from(rdata).toString('hex'))).toEqual([`30390802${digest}`]);
  });

  it('is no name that a wildcard makes', async () => {
    const { observe } = testResolver(comInternet('*.apps A 192.5.6.9\n*.links CNAME x.net.'));
    const plain = await observe('some.apps.com');
    expect([plain.parent, outcomesOf(plain)]).toEqual([name('com'), ['nodata', 'nodata']]);
    expect(outcomesOf(await observe('some.links.com'))).toEqual(['alias', 'alias']);
    expect(outcomesOf(await observe('a.b.links.com'))).toEqual(['alias', 'alias']);
  });
});

describe('the parent', () => {
  it('may be the root', async () => {
    const evidence = await testResolver(comInternet('')).observe('com');
    expect(evidence).toMatchObject({ parent: name('.'), queries: 2, parentAddresses: 2 });
    expect(outcomesOf(evidence)).toEqual(['referral a.gtld. b.gtld.', 'referral a.gtld. b.gtld.']);
    expect(outcomesOf(await testResolver(comInternet('')).observe('nothing'))).toEqual([
      'nxdomain',
      'nxdomain',
    ]);
  });

  it('is not asked for of the root itself', async () => {
    await expect(testResolver(comInternet('')).observe('.')).rejects.toThrow(RangeError);
  });

  it('may be on the servers of its own parent', async () => {
    const uk = zone(
      'uk.',
      '@ NS a.nic.uk.\n@ NS b.nic.uk.\na.nic A 156.154.100.3\nb.nic A 156.154.101.3\nco NS a.nic.uk.\nco NS b.nic.uk.',
    );
    const co = zone('co.uk.', '@ NS a.nic.uk.\n@ NS b.nic.uk.\nshop NS ns1.host.net.');
    const exchange = internet(
      'uk NS a.nic.uk.\nuk NS b.nic.uk.\na.nic.uk A 156.154.100.3\nb.nic.uk A 156.154.101.3',
    )
      .serve('156.154.100.3', uk, co)
      .serve('156.154.101.3', uk, co);
    const { observe } = testResolver(exchange);
    const evidence = await observe('shop.co.uk');
    expect(evidence.parent).toBe(name('co.uk'));
    expect(walked(evidence)).toBe('(.) uk. co.uk.');
    expect(outcomesOf(evidence)).toEqual(['referral ns1.host.net.', 'referral ns1.host.net.']);
    expect(evidence.queries).toBe(4);
    expect((await observe('shop.co.uk')).queries).toBe(2);
  });

  it('is found by cuts, through empty names and three labels down', async () => {
    const jp = zone(
      'jp.',
      '@ NS a.dns.jp.\na.dns A 203.119.1.1\ncity.kobe NS ns.kobe.jp.\nns.kobe A 203.119.1.2\nx.y.z NS ns1.host.net.',
    );
    const city = zone('city.kobe.jp.', '@ NS ns.kobe.jp.\nlib NS ns1.host.net.');
    const exchange = internet('jp NS a.dns.jp.\na.dns.jp A 203.119.1.1')
      .serve('203.119.1.1', jp)
      .serve('203.119.1.2', city);
    const { observe } = testResolver(exchange);
    const evidence = await observe('lib.city.kobe.jp');
    expect(walked(evidence)).toBe('(.) jp. city.kobe.jp.');
    expect(evidence).toMatchObject({ parent: name('city.kobe.jp'), parentAddresses: 1 });
    expect(outcomesOf(evidence)).toEqual(['referral ns1.host.net.']);

    const deep = await observe('x.y.z.jp');
    expect([deep.parent, outcomesOf(deep)]).toEqual([name('jp'), ['referral ns1.host.net.']]);
    exchange.takeAsked();
    expect((await observe('x.y.z.jp')).queries).toBe(1);
  });

  it('may deny the empty names above the domain', async () => {
    const com = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nx.y.z NS ns1.host.net.\nb NS ns.b\nns.b A 5.5.5.5');
    const exchange = comInternet('').serve(COM_A, com).serve(COM_B, com);
    for (const address of [COM_A, COM_B]) {
      exchange.behave(address, (question) => {
        const isEmpty = question.name === 'z.com.' || question.name === 'y.z.com.';
        return isEmpty ? { ...question.honest(), rcode: RCODE.NXDOMAIN } : undefined;
      });
    }
    const { observe } = testResolver(exchange);
    const evidence = await observe('x.y.z.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([
      name('com'),
      ['referral ns1.host.net.', 'referral ns1.host.net.'],
    ]);
    expect((await observe('x.y.z.com')).queries).toBe(2); // the lie is remembered as one
    // Where nothing is, that is believed: two questions more than for the name above.
    expect(outcomesOf(await observe('x.nothing.com'))).toEqual(['nxdomain', 'nxdomain']);
    expect((await observe('x.nothing.com')).queries).toBe(2);
  });

  it('may have servers that hold the domain too: further ones are asked', async () => {
    const com = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nexample NS parent.host.net.');
    const child = zone('example.com.', '@ NS child.host.net.');
    const both = internet(
      `com NS a.gtld.\ncom NS b.gtld.\ncom NS c.gtld.\na.gtld. A ${COM_A}\nb.gtld. A ${COM_B}\nc.gtld. A 192.26.92.30`,
    )
      .serve(COM_A, com, child)
      .serve(COM_B, com, child)
      .serve('192.26.92.30', com, child);
    const answers = await testResolver(both).observe('example.com');
    expect(outcomesOf(answers)).toEqual(Array<string>(3).fill('answer child.host.net.'));
    expect(answers.servers.every(({ aa }) => aa)).toBe(true);

    both.serve('192.26.92.31', com);
    const root = zone(
      '.',
      `@ NS a.root.\n@ NS b.root.\ncom NS a.gtld.\ncom NS d.gtld.\na.gtld. A ${COM_A}\nd.gtld. A 192.26.92.31`,
    );
    both.serve(ROOT_A, root).serve(ROOT_B, root);
    const mixed = await testResolver(both).observe('example.com');
    expect(outcomesOf(mixed)).toEqual(['answer child.host.net.', 'referral parent.host.net.']);
  });

  it('may have come into being: the way goes on down from a referral to it', async () => {
    const exchange = comInternet('x.dept NS ns1.host.net.');
    const { observe } = testResolver(exchange);
    expect((await observe('x.dept.com')).parent).toBe(name('com'));
    const com = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\ndept NS ns.dept\nns.dept A 5.5.5.5');
    exchange
      .serve(COM_A, com)
      .serve(COM_B, com)
      .serve('5.5.5.5', zone('dept.com.', '@ NS ns\nns A 5.5.5.5\nx NS ns9.host.net.'));
    const evidence = await observe('x.dept.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('dept.com'), ['referral ns9.host.net.']]);
    expect(walked(evidence)).toBe('(.) (com.) dept.com.');
    expect((await observe('x.dept.com')).queries).toBe(1);
  });

  it('may have come into being on the same servers', async () => {
    const exchange = comInternet('x.dept A 192.5.6.9');
    const { observe } = testResolver(exchange);
    expect(outcomesOf(await observe('x.dept.com'))).toEqual(['nodata', 'nodata']);
    const dept = zone('dept.com.', '@ NS a.gtld.\n@ NS b.gtld.\nother A 192.5.6.9');
    exchange.serve(COM_A, dept).serve(COM_B, dept);
    const evidence = await observe('x.dept.com');
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('dept.com'), ['nxdomain', 'nxdomain']]);
  });

  it('may have servers that speak for a zone below it, and deny that it is one', async () => {
    const exchange = comInternet('x.dept A 192.5.6.9');
    const soa = zone('dept.com.', '@ NS a.gtld.').soa;
    for (const address of [COM_A, COM_B]) {
      exchange.behave(address, ({ name: asked }) =>
        asked.endsWith('x.dept.com.')
          ? reply({ aa: true, rcode: RCODE.NXDOMAIN, authorities: recordsIn([soa]) })
          : undefined,
      );
    }
    const { observe } = testResolver(exchange);
    for (const domain of ['x.dept.com', 'y.x.dept.com', 'z.y.x.dept.com']) {
      const evidence = await observe(domain);
      expect([evidence.parent, outcomesOf(evidence)]).toEqual([name('com'), ['lame', 'lame']]);
      expect(evidence.queries).toBeLessThan(12);
    }
  });

  it('may have servers that hold the domain too, with a zone that has no NS', async () => {
    const exchange = comInternet(DELEGATED);
    const { soa } = zone('example.com.', '@ NS a.gtld.');
    exchange.behave(COM_A, ({ name: asked }) =>
      asked === 'example.com.' ? reply({ aa: true, authorities: recordsIn([soa]) }) : undefined,
    );
    const evidence = await testResolver(exchange).observe('example.com');
    expect(outcomesOf(evidence)).toEqual(['lame', REFERRAL]);
    expect(evidence.servers.map(({ error }) => error)).toContain('its SOA is not of the parent zone');
  });

  it('has as many addresses as it has, the unknown ones included', async () => {
    const com = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nexample NS ns1.host.net.');
    const exchange = internet(
      `com NS a.gtld.\ncom NS b.gtld.\ncom NS c.nowhere.\na.gtld. A ${COM_A}\nb.gtld. A ${COM_B}`,
    )
      .serve(COM_A, com)
      .serve(COM_B, com);
    const evidence = await testResolver(exchange).observe('example.com');
    expect(evidence).toMatchObject({ parentAddresses: 3 });
    expect(evidence.servers).toHaveLength(2);
  });
});

describe('servers of the parent that fail', () => {
  const six = Array.from({ length: 7 }, (_, i) => `192.5.6.3${i}`);
  const com = zone('com.', `${six.map((_, i) => `@ NS ${i}.gtld.`).join('\n')}\n${DELEGATED}`);
  const world = () => {
    const text = six.map((address, i) => `com NS ${i}.gtld.\n${i}.gtld. A ${address}`).join('\n');
    return six.reduce((exchange, address) => exchange.serve(address, com), internet(text));
  };

  it('are made up for by another one', async () => {
    const exchange = world();
    let first: string | undefined;
    for (const address of six) {
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
    // It is not asked again soon.
    for (let i = 0; i < 20; i++)
      expect(outcomesOf(await observe('example.com'))).toEqual([REFERRAL, REFERRAL]);
  });

  it('are six at most', async () => {
    const exchange = world();
    for (const address of six)
      exchange.behave(address, ({ name: asked }) => (asked === 'com.' ? undefined : 'silent'));
    const evidence = await testResolver(exchange).observe('example.com');
    expect(outcomesOf(evidence)).toEqual(Array<string>(6).fill('timeout'));
    expect(evidence).toMatchObject({
      parent: name('com'),
      parentAddresses: 7,
      failure: undefined,
      queries: 13,
    });
  });

  it('are told apart', async () => {
    const exchange = world();
    const faults = [
      'silent',
      'bad',
      reply({ rcode: RCODE.REFUSED }),
      reply({ rcode: RCODE.SERVFAIL }),
      reply({ authorities: recordsIn([...(com.nodes.get(com.apex)?.sets.values() ?? [])]) }),
      reply({ rcode: RCODE.NOTIMP, aa: true }),
      reply({ aa: true }),
    ] as const;
    for (const [i, address] of six.entries()) exchange.behave(address, () => faults[i]);
    const evidence = await testResolver(exchange, { limits: { parentAddresses: 7 } }).observe('example.com');
    expect(outcomesOf(evidence)).toEqual(['bad', 'bad', 'lame', 'lame', 'refused', 'servfail', 'timeout']);
    const errors = new Map(evidence.servers.map(({ address, error }) => [address, error]));
    expect(six.map((address) => errors.get(address))).toEqual([
      undefined,
      'refused by the kernel',
      undefined,
      undefined,
      'it refers up to com.',
      'NOTIMP',
      'it says no data without a SOA',
    ]);
  });

  it('are all asked where two of them differ', async () => {
    const exchange = world();
    const other = zone('com.', '@ NS 0.gtld.\nexample NS ns9.host.net.');
    for (const address of six.slice(0, 6)) exchange.serve(address, other);
    const evidence = await testResolver(exchange, { random: () => 0.999 }).observe('example.com');
    expect(new Set(outcomesOf(evidence)).size).toBeLessThanOrEqual(2);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        testResolver(exchange, { random: seeded(i) }).observe('example.com'),
      ),
    );
    for (const { servers } of all) {
      const kinds = new Set(servers.slice(0, 2).map(({ ns }) => ns.join()));
      expect(servers).toHaveLength(kinds.size === 1 ? 2 : 6);
    }
    expect(all.some(({ servers }) => servers.length === 6)).toBe(true);
  });
});

function seeded(seed: number): () => number {
  let state = seed * 7919 + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe('a zone that this fleet serves', () => {
  const held: HeldZone = {
    zone: name('fleet.com'),
    cut: undefined,
    ns: [],
    ds: [],
    glue: [],
    ttl: 300,
    exists: false,
    alias: false,
  };
  const nobody = () =>
    testResolver(
      internet('')
        .behave(ROOT_A, () => 'bad')
        .behave(ROOT_B, () => 'bad'),
    );

  it('says itself what it delegates, and nobody is asked', async () => {
    const ns = [name('NS2.host.net'), name('ns1.host.net')];
    const cut = { ...held, cut: name('shop.fleet.com'), ns, ds: [Uint8Array.of(1, 2)] };
    const evidence = await nobody().observe('shop.fleet.com', { held: cut });
    expect(evidence).toMatchObject({ parent: name('fleet.com'), parentAddresses: 1, queries: 0 });
    expect(walked(evidence)).toBe('(fleet.com.)');
    expect(evidence.servers).toEqual([
      expect.objectContaining({
        server: name('fleet.com'),
        address: '',
        transport: 'database',
        outcome: 'referral',
        ns: [name('ns1.host.net'), name('ns2.host.net')],
        ds: [Uint8Array.of(1, 2)],
        ttl: 300,
        rttMs: undefined,
      }),
    ]);
  });

  it.each<[string, Partial<HeldZone>, string]>([
    ['nothing is there', {}, 'nxdomain'],
    ['something is there, but no delegation', { exists: true }, 'nodata'],
    ['an alias is there', { exists: true, alias: true }, 'alias'],
  ])('says that %s', async (_what, part, outcome) => {
    expect(outcomesOf(await nobody().observe('shop.fleet.com', { held: { ...held, ...part } }))).toEqual([
      outcome,
    ]);
  });

  it('is where the walk begins when it delegates a name above the domain', async () => {
    const exchange = internet('').serve(
      '5.5.5.5',
      zone('dept.fleet.com.', '@ NS ns\nns A 5.5.5.5\nshop NS ns1.host.net.'),
    );
    const dept = {
      ...held,
      cut: name('dept.fleet.com'),
      ns: [name('ns.dept.fleet.com')],
      glue: [{ name: name('ns.dept.fleet.com'), address: '5.5.5.5' }],
    };
    const evidence = await testResolver(exchange).observe('shop.dept.fleet.com', { held: dept });
    expect([evidence.parent, outcomesOf(evidence)]).toEqual([
      name('dept.fleet.com'),
      ['referral ns1.host.net.'],
    ]);
    expect(walked(evidence)).toBe('(fleet.com.) (dept.fleet.com.)');
    expect(evidence.queries).toBe(1);
    expect(evidence.walk[0]?.servers).toEqual([]);
  });
});

describe('a walk that fails', () => {
  it('says that nobody answered', async () => {
    const exchange = comInternet(DELEGATED)
      .behave(ROOT_A, () => 'silent')
      .behave(ROOT_B, () => 'silent');
    const { observe, clock } = testResolver(exchange);
    const evidence = await observe('example.com');
    expect(failure(evidence)).toBe('unreachable at .');
    expect(evidence).toMatchObject({ parent: undefined, servers: [], parentAddresses: 0, queries: 4 });
    expect(walked(evidence)).toBe('(.)');
    // The failure is remembered, for a second at first.
    expect(await observe('example.com')).toMatchObject({ queries: 0, failure: { reason: 'unreachable' } });
    expect((await observe('other.com')).queries).toBe(0);
    clock.now += 1000;
    expect((await observe('example.com')).queries).toBe(4);
    clock.now += 1000;
    expect((await observe('example.com')).queries).toBe(0);
    clock.now += 1000;
    exchange.behave(ROOT_B, () => undefined);
    expect(failure(await observe('example.com'))).toBe(undefined);
  });

  it('says that the servers do not serve the zone', async () => {
    const exchange = comInternet(DELEGATED);
    for (const address of [COM_A, COM_B]) exchange.behave(address, () => reply({ rcode: RCODE.REFUSED }));
    const evidence = await testResolver(exchange).observe('www.example.com');
    expect(failure(evidence)).toBe('lame at com.');
    expect(evidence.failure?.message).toBe('no useful reply from the servers of com.: refused');
  });

  it('says that no address may be asked', async () => {
    const exchange = internet('com NS a.gtld.\na.gtld. A 10.0.0.1\na.gtld. A 127.0.0.1\na.gtld. AAAA ::1');
    const evidence = await testResolver(exchange, { hasIpv6: true }).observe('example.com');
    expect(failure(evidence)).toBe('no_address at com.');
    expect(evidence.parent).toBe(name('com'));
    expect(exchange.asked.some((text) => !text.startsWith(ROOT_A) && !text.startsWith(ROOT_B))).toBe(false);
  });

  it('asks for the delegation of the parent again when all its servers have become useless', async () => {
    const exchange = comInternet('dept NS ns.dept\nns.dept A 5.5.5.5');
    exchange.serve('5.5.5.5', zone('dept.com.', '@ NS ns\nns A 5.5.5.5\nshop NS ns1.host.net.'));
    const { observe, clock } = testResolver(exchange);
    expect(outcomesOf(await observe('shop.dept.com'))).toEqual(['referral ns1.host.net.']);
    const moved = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\ndept NS ns.dept\nns.dept A 5.5.5.6');
    exchange
      .serve(COM_A, moved)
      .serve(COM_B, moved)
      .behave('5.5.5.5', () => reply({ rcode: RCODE.REFUSED }));
    exchange.serve('5.5.5.6', zone('dept.com.', '@ NS ns\nns A 5.5.5.6\nshop NS ns2.host.net.'));
    // Not at once: servers that fail would cost their parent a question each time.
    expect(outcomesOf(await observe('shop.dept.com'))).toEqual(['refused']);
    clock.now += 300_000;
    const evidence = await observe('shop.dept.com');
    expect([evidence.queries, outcomesOf(evidence)]).toEqual([3, ['referral ns2.host.net.']]);
    expect(walked(evidence)).toBe('(.) (com.) dept.com.');
  });

  it('goes on to the next server after one that is no use', async () => {
    const exchange = comInternet('deep.example NS ns1.host.net.');
    for (const broken of ['silent', 'bad', reply({ rcode: RCODE.SERVFAIL })] as const) {
      exchange.behave(COM_A, ({ name: asked }) => (asked === 'example.com.' ? broken : undefined));
      for (const seed of [1, 2, 3, 4]) {
        const evidence = await testResolver(exchange, { random: seeded(seed) }).observe('deep.example.com');
        expect(outcomesOf(evidence)).toEqual(['referral ns1.host.net.', 'referral ns1.host.net.']);
      }
    }
  });
});
