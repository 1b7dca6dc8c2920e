import { describe, expect, it } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { type Name, printName } from '../../../src/dns/name.ts';
import { scale } from '../../support/tests/scale.ts';
import {
  COM_A,
  dice,
  failure,
  internet,
  outcomesOf,
  ROOT_A,
  ROOT_B,
  testResolver,
  walked,
} from '../../support/world/test-resolver.ts';
import { name, recordsIn, reply, type ZoneExchange, zone } from '../../support/world/zone-exchange.ts';

const NET = '192.5.6.40';
const SHOP = '5.5.5.5';
const SEEN = 'referral ns1.host.net.';

/** com delegates `shop`, whose nameservers are without glue; `net` is what net holds. */
function world(shopNs: readonly string[], net: string): ZoneExchange {
  const com = zone('com.', `@ NS a.gtld.\n${shopNs.map((ns) => `shop NS ${ns}`).join('\n')}`);
  return internet(`com NS a.gtld.\nnet NS n.gtld.\na.gtld. A ${COM_A}\nn.gtld. A ${NET}`)
    .serve(COM_A, com)
    .serve(NET, zone('net.', `@ NS n.gtld.\n${net}`))
    .serve(SHOP, zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.'));
}

describe('a nameserver without glue', () => {
  it('is looked up from the root', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5');
    const { observe, clock } = testResolver(exchange);
    const evidence = await observe('www.shop.com');
    expect(outcomesOf(evidence)).toEqual([SEEN]);
    expect(walked(evidence)).toBe('(.) com. shop.com.');
    expect(evidence).toMatchObject({ parentAddresses: 1 });
    expect(exchange.takeAsked().map((text) => text.replace(/^\S+ /, ''))).toEqual([
      'com. NS',
      'shop.com. NS',
      'net. NS',
      'host.net. NS',
      'ns1.host.net. A',
      'www.shop.com. NS',
    ]);
    expect((await observe('www.shop.com')).queries).toBe(1);
    clock.now += 3_599_000;
    expect((await observe('www.shop.com')).queries).toBe(1);
    clock.now += 1000;
    expect(outcomesOf(await observe('www.shop.com'))).toEqual([SEEN]);
  });

  it('may have an address with a TTL of 0', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host 0 A 5.5.5.5');
    const { observe, clock } = testResolver(exchange);
    for (let i = 0; i < 2; i++) {
      const evidence = await observe('www.shop.com');
      expect([evidence.parentAddresses, outcomesOf(evidence)]).toEqual([1, [SEEN]]);
      clock.now += 60_000;
    }
    expect(exchange.asked.filter((text) => text.endsWith(' ns1.host.net. A'))).toHaveLength(2);
  });

  it('may have its address in a zone of its own name', async () => {
    const exchange = world(['host.net.'], 'host NS ns1.host\nns1.host A 7.7.7.7').serve(
      '7.7.7.7',
      zone('host.net.', '@ NS ns1\n@ A 5.5.5.5\nns1 A 7.7.7.7'),
    );
    expect(outcomesOf(await testResolver(exchange).observe('www.shop.com'))).toEqual([SEEN]);
  });

  it('is asked at addresses of both families, where there is IPv6', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5\nns1.host AAAA 2600::5').serve(
      '2600::5',
      zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.'),
    );
    const both = await testResolver(exchange, { hasIpv6: true }).observe('www.shop.com');
    expect(both.servers.map(({ address }) => address).sort()).toEqual(['2600::5', '5.5.5.5']);
    expect(both.parentAddresses).toBe(2);
    const one = await testResolver(exchange).observe('www.shop.com');
    expect(one.servers.map(({ address }) => address)).toEqual(['5.5.5.5']);
    expect(one.parentAddresses).toBe(1);
  });

  it('may have an IPv6 address alone', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host AAAA 2600::5').serve(
      '2600::5',
      zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.'),
    );
    expect(outcomesOf(await testResolver(exchange, { hasIpv6: true }).observe('www.shop.com'))).toEqual([
      SEEN,
    ]);
    expect(failure(await testResolver(exchange).observe('www.shop.com'))).toBe('no_address at shop.com.');
  });

  it('may be below a name that its registry denies', async () => {
    const exchange = world(['ns.y.z.net.'], 'y.z NS ns.y.z\nns.y.z A 7.7.7.7')
      .serve('7.7.7.7', zone('y.z.net.', '@ NS ns\nns A 5.5.5.5'))
      .behave(NET, ({ name: asked, honest }) =>
        asked === 'z.net.' ? { ...honest(), rcode: RCODE.NXDOMAIN } : undefined,
      );
    expect(outcomesOf(await testResolver(exchange).observe('www.shop.com'))).toEqual([SEEN]);
  });

  it('that cannot be found may be one more address', async () => {
    const exchange = world(
      ['ns1.host.net.', 'ns.dead.net.'],
      'ns1.host A 5.5.5.5\ndead NS ns.dead\nns.dead A 6.6.6.6',
    );
    exchange.behave('6.6.6.6', () => 'silent');
    // Its own glue is no address to take from: it is for the way to its zone only.
    for (const seed of [1, 2, 3]) {
      const evidence = await testResolver(exchange, { random: dice(seed) }).observe('www.shop.com');
      expect(evidence).toMatchObject({ parentAddresses: 2 });
      expect(outcomesOf(evidence)).toEqual([SEEN]);
    }
  });

  it.each<[what: string, shopNs: string[], net: string]>([
    ['is an alias', ['ns1.host.net.'], 'ns1.host CNAME a.host\na.host CNAME b.other\nb.other A 5.5.5.5'],
    ['exists, if another one does not', ['ns1.host.net.', 'nothing.host.net.'], 'ns1.host A 5.5.5.5'],
  ])('is found if it %s', async (_, shopNs, net) => {
    const evidence = await testResolver(world(shopNs, net)).observe('www.shop.com');
    expect([evidence.parentAddresses, outcomesOf(evidence)]).toEqual([1, [SEEN]]);
  });

  it.each([
    ['has an address that must not be queried', 'ns1.host A 169.254.169.254', 'no_address at shop.com.'],
    ['is an alias of itself', 'ns1.host CNAME a.host\na.host CNAME ns1.host', 'loop at shop.com.'],
  ])('is not found if it %s', async (_, net, expected) => {
    const evidence = await testResolver(world(['ns1.host.net.'], net)).observe('www.shop.com');
    expect(failure(evidence)).toBe(expected);
    expect(evidence.queries).toBeLessThan(10);
  });

  it('is followed through eight aliases and no more', async () => {
    const links = (count: number) =>
      Array.from({ length: count }, (_, i) => `h${i} CNAME h${i + 1}`).join('\n');
    const eight = world(['h0.net.'], `${links(8)}\nh8 A 5.5.5.5`);
    expect(outcomesOf(await testResolver(eight).observe('www.shop.com'))).toEqual([SEEN]);
    const nine = world(['h0.net.'], `${links(9)}\nh9 A 5.5.5.5`);
    expect(failure(await testResolver(nine).observe('www.shop.com'))).toBe('limit at shop.com.');
  });

  it('is looked up again one second after a failed lookup', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5').behave(NET, () => 'silent');
    const { observe, clock } = testResolver(exchange);
    expect(failure(await observe('www.shop.com'))).toBe('no_address at shop.com.');
    exchange.behave(NET, () => undefined);
    const again = await observe('www.shop.com');
    expect([failure(again), again.queries]).toEqual(['no_address at shop.com.', 0]);
    clock.now += 1000;
    expect(outcomesOf(await observe('www.shop.com'))).toEqual([SEEN]);
  });
});

describe('many nameservers without glue', () => {
  it('are looked up a few at a time', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `ns.victim${i}.net.`);
    const exchange = world(names, '');
    const evidence = await testResolver(exchange).observe('www.shop.com');
    expect(failure(evidence)).toBe('no_address at shop.com.');
    // com, shop.com, net; then one question about each of four victims, and of the host in it
    expect(evidence.queries).toBeLessThanOrEqual(3 + 2 * 4);
    expect(evidence.walk.at(-1)?.servers).toHaveLength(60);
  });
});

describe('delegations that lead to themselves', () => {
  it('are a loop', async () => {
    const exchange = internet('a NS ns.b.\nb NS ns.a.');
    const evidence = await testResolver(exchange).observe('shop.a');
    expect(failure(evidence)).toBe('loop at a.');
    expect(evidence.parent).toBe(name('a'));
    expect(evidence.queries).toBe(2);
  });

  it('are a loop for two who come from both sides at once', async () => {
    const exchange = internet('a NS ns.b.\nb NS ns.a.');
    const { observe } = testResolver(exchange);
    const both = await Promise.all(['x.a', 'x.b', 'y.a', 'y.b'].map((domain) => observe(domain)));
    expect(both.map(failure)).toEqual(['loop at a.', 'loop at b.', 'loop at a.', 'loop at b.']);
  });

  it('are none where one of them has another way out', async () => {
    const exchange = internet('a NS ns.b.\nb NS ns.a.\nb NS ns.c.\nc NS ns.c.\nns.c. A 6.6.6.6')
      .serve('6.6.6.6', zone('c.', '@ NS ns\nns A 6.6.6.6'), zone('b.', '@ NS ns.c.\nns A 7.7.7.7'))
      .serve('7.7.7.7', zone('b.', '@ NS ns.c.\nns A 7.7.7.7'))
      .serve('7.7.7.7', zone('a.', '@ NS ns.b.\nns A 7.7.7.7\nshop NS ns1.host.net.'));
    for (const seed of [1, 2, 3, 4, 5]) {
      const { observe } = testResolver(exchange, { random: dice(seed) });
      const all = await Promise.all([observe('shop.a'), observe('x.b'), observe('other.a')]);
      expect(all.map((evidence) => [...new Set(outcomesOf(evidence))])).toEqual([
        [SEEN],
        ['nxdomain'],
        ['nxdomain'],
      ]);
    }
  });

  it('take no more work the more of them there are', async () => {
    const zones = Array.from({ length: 12 }, (_, i) => `z${i}`);
    const mesh = zones.flatMap((at) => zones.filter((to) => to !== at).map((to) => `${at} NS ns.${to}.`));
    const exchange = internet(mesh.join('\n'));
    const { observe, clock } = testResolver(exchange);
    for (let i = 0; i < 3; i++) {
      const evidence = await observe('shop.z0');
      expect(['loop at z0.', 'limit at z0.']).toContain(failure(evidence));
      expect(evidence.queries).toBeLessThanOrEqual(12);
      clock.now += 10_000;
    }
    expect(exchange.asked.length).toBeLessThanOrEqual(12);
  });

  it('are no loop where there are addresses that we cannot reach', async () => {
    const exchange = internet('com NS ns.com.\nns.com AAAA 2600::1');
    expect(failure(await testResolver(exchange).observe('shop.com'))).toBe('no_address at com.');
  });

  it('may be the glue that is missing', async () => {
    const exchange = internet('com NS ns.com.');
    expect(failure(await testResolver(exchange).observe('shop.com'))).toBe('loop at com.');
  });
});

describe('what a server has no right to say', () => {
  it('is not believed: addresses of names outside its zone', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5');
    exchange.behave(COM_A, ({ honest }) => ({
      ...honest(),
      additionals: recordsIn([
        { owner: name('ns1.host.net'), type: 1, ttl: 60, rdata: [Uint8Array.of(66, 66, 66, 66)] },
        { owner: name('a.gtld'), type: 1, ttl: 60, rdata: [Uint8Array.of(66, 66, 66, 66)] },
      ]),
    }));
    const evidence = await testResolver(exchange).observe('www.shop.com');
    expect(outcomesOf(evidence)).toEqual([SEEN]);
    expect(exchange.asked.filter((text) => text.startsWith('66.'))).toEqual([]);
  });

  it('is not believed: delegations of other zones', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5');
    const lie = (cut: string) =>
      reply({
        authorities: recordsIn([
          { owner: name(cut), type: 2, ttl: 60, rdata: [Buffer.from(name('evil.com'), 'latin1')] },
        ]),
      });
    const { observe } = testResolver(exchange);
    for (const cut of ['.', 'com', 'net', 'host.net', 'x.www.shop.com']) {
      exchange.behave(SHOP, () => lie(cut));
      expect([cut, outcomesOf(await observe('www.shop.com'))]).toEqual([cut, ['lame']]);
    }
    exchange.behave(SHOP, () => undefined);
    expect(outcomesOf(await observe('www.shop.com'))).toEqual([SEEN]);
  });

  it('is not believed: an address for a name without AA', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5').behave(NET, ({ type, honest }) =>
      type === 'A' ? { ...honest(), aa: false } : undefined,
    );
    expect(failure(await testResolver(exchange).observe('www.shop.com'))).toBe('no_address at shop.com.');
  });
});

describe('servers that hold both a zone and the one below', () => {
  it('are asked for addresses below, though the set of the lower zone names nobody who is known', async () => {
    const co = zone(
      'co.uk.',
      '@ NS ns1.co.uk.\n@ NS ns2.co.uk.\nns1 A 8.8.1.1\nns2 A 8.8.1.2\nshop NS ns1.host.net.',
    );
    const uk = zone('uk.', '@ NS a.nic.uk.\na.nic A 8.8.1.3\nco NS ns1.co.uk.\nco NS ns2.co.uk.');
    const exchange = internet('uk NS a.nic.uk.\na.nic.uk A 8.8.1.3')
      .serve('8.8.1.3', uk, co)
      .serve('8.8.1.1', co)
      .serve('8.8.1.2', co);
    exchange.behave('8.8.1.3', ({ honest }) => ({ ...honest(), additionals: [] }));
    const evidence = await testResolver(exchange).observe('shop.co.uk');
    expect(evidence.parent).toBe(name('co.uk'));
    expect(outcomesOf(evidence)).toEqual([SEEN, SEEN]);
    expect(evidence.walk.at(-1)?.servers.map((server: Name) => printName(server))).toEqual([
      'ns1.co.uk.',
      'ns2.co.uk.',
    ]);
  });
});

describe('nesting', () => {
  it('of nameservers that need nameservers has an end', async () => {
    const levels = 12;
    const tlds = Array.from({ length: levels }, (_, i) => `t${i} NS ns.t${i + 1}.`).join('\n');
    const exchange = internet(`${tlds}\nt${levels} NS ns.t${levels}.\nns.t${levels}. A 9.9.1.1`).serve(
      '9.9.1.1',
      ...Array.from({ length: levels + 1 }, (_, i) => zone(`t${i}.`, '@ NS ns\nns A 9.9.1.1')),
    );
    const evidence = await testResolver(exchange).observe('shop.t0');
    expect(failure(evidence)).toBe('limit at t0.');
    // From nearer it is within reach, and with what was learned there the first one is too.
    const { observe } = testResolver(exchange);
    expect(outcomesOf(await observe('shop.t8'))).toEqual(['nxdomain']);
    expect(outcomesOf(await observe('shop.t3'))).toEqual(['nxdomain']);
    expect(outcomesOf(await observe('shop.t0'))).toEqual(['nxdomain']);
  });
});

describe('the hints', () => {
  it('are all that is asked of the root, without a question for its own set', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 5.5.5.5');
    await testResolver(exchange).observe('www.shop.com');
    const roots = exchange.asked.filter((text) => text.startsWith(ROOT_A) || text.startsWith(ROOT_B));
    expect(roots.map((text) => text.split(' ')[1]).sort()).toEqual(['com.', 'net.']);
  });

  it('may be private ones where that is allowed', async () => {
    const exchange = world(['ns1.host.net.'], 'ns1.host A 10.1.1.1').serve(
      '10.1.1.1',
      zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.'),
    );
    const allowed = [{ octets: Uint8Array.of(10, 0, 0, 0), bits: 8 }];
    expect(outcomesOf(await testResolver(exchange, { allowed }).observe('www.shop.com'))).toEqual([SEEN]);
  });
});

describe('registries whose nameservers are in one another at random', () => {
  /** Registries z0, z1, …, each with up to three nameservers, of which some have glue. */
  function tangle(seed: number, count: number): ZoneExchange {
    const random = dice(seed);
    const served: [registry: number, at: number][] = [];
    let root = '';
    for (let i = 0; i < count; i++) {
      for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
        const at = Math.floor(random() * count);
        root += `z${i} NS ns.z${at}.\n`;
        if (at === i && random() < 0.5) root += `ns.z${at} A 9.9.9.${at}\n`;
        served.push([i, at]);
      }
    }
    const exchange = internet(root);
    for (let at = 0; at < count; at++) exchange.serve(`9.9.9.${at}`);
    for (const [i, at] of served) {
      exchange.serve(`9.9.9.${at}`, zone(`z${i}.`, `@ NS ns\nns A 9.9.9.${i}\nshop NS ns1.host.net.`));
    }
    return exchange;
  }

  it('are found by many at once wherever one alone finds them, and nobody waits for ever', async () => {
    let found = 0;
    for (let seed = 1; seed <= scale(30, 10); seed++) {
      const count = 3 + (seed % 8);
      const domains = Array.from({ length: count }, (_, i) => `shop.z${i}`);
      const alone: boolean[] = [];
      for (const domain of domains) {
        const evidence = await testResolver(tangle(seed, count)).observe(domain);
        alone.push(evidence.failure === undefined);
      }
      const { observe } = testResolver(tangle(seed, count), { random: dice(seed) });
      const together = await Promise.all([...domains, ...domains].map((domain) => observe(domain)));
      expect([seed, together.map((evidence) => evidence.failure === undefined)]).toEqual([
        seed,
        [...alone, ...alone],
      ]);
      expect(together.every(({ queries }) => queries <= 60)).toBe(true);
      found += alone.filter(Boolean).length;
    }
    expect(found).toBeGreaterThan(scale(50, 15));
  });
});
