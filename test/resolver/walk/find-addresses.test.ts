import { describe, expect, it } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
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
const NS_1 = ['ns1.host.net.'];
const SHOP_ZONE = zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.');

/** com delegates `shop` to nameservers without glue; `net` has the records of net. */
function world(shopNs: readonly string[], net: string): ZoneExchange {
  const com = zone('com.', `@ NS a.gtld.\n${shopNs.map((ns) => `shop NS ${ns}`).join('\n')}`);
  const exchange = internet(`com NS a.gtld.\nnet NS n.gtld.\na.gtld. A ${COM_A}\nn.gtld. A ${NET}`)
    .serve(COM_A, com)
    .serve(NET, zone('net.', `@ NS n.gtld.\n${net}`));
  for (const address of [SHOP, '2600::5', '10.1.1.1']) exchange.serve(address, SHOP_ZONE);
  return exchange;
}
const plain = () => world(NS_1, 'ns1.host A 5.5.5.5');

/** The failure, or what the parent's servers answered. */
async function observed(
  exchange: ZoneExchange,
  domain = 'www.shop.com',
  options: Parameters<typeof testResolver>[1] = {},
): Promise<string> {
  const evidence = await testResolver(exchange, options).observe(domain);
  return failure(evidence) ?? outcomesOf(evidence).join(' ');
}

const aliases = (count: number) =>
  [...Array.from({ length: count }, (_, i) => `h${i} CNAME h${i + 1}`), `h${count} A 5.5.5.5`].join('\n');

describe('a nameserver without glue', () => {
  it('is looked up from the root, and remembered for the TTL of its address', async () => {
    const exchange = plain();
    const { observe, clock } = testResolver(exchange);
    const evidence = await observe('www.shop.com');
    expect(outcomesOf(evidence)).toEqual([SEEN]);
    expect(walked(evidence)).toBe('(.) com. shop.com.');
    expect(evidence).toMatchObject({ parentAddresses: 1 });
    const asked = [
      'com. NS',
      'shop.com. NS',
      'net. NS',
      'host.net. NS',
      'ns1.host.net. A',
      'www.shop.com. NS',
    ];
    const roots = exchange.asked.filter((text) => text.startsWith(ROOT_A) || text.startsWith(ROOT_B));
    expect(roots.map((text) => text.split(' ')[1]).sort()).toEqual(['com.', 'net.']);
    expect(exchange.takeAsked().map((text) => text.replace(/^\S+ /, ''))).toEqual(asked);
    clock.now += 3_599_000;
    expect((await observe('www.shop.com')).queries).toBe(1);
    clock.now += 1000;
    expect((await observe('www.shop.com')).queries).toBe(6);
  });

  it('is looked up each time if its address has a TTL of 0', async () => {
    const exchange = world(NS_1, 'ns1.host 0 A 5.5.5.5');
    const { observe, clock } = testResolver(exchange);
    for (let i = 0; i < 2; i++, clock.now += 60_000) {
      const evidence = await observe('www.shop.com');
      expect([evidence.parentAddresses, outcomesOf(evidence)]).toEqual([1, [SEEN]]);
    }
    expect(exchange.asked.filter((text) => text.endsWith(' ns1.host.net. A'))).toHaveLength(2);
  });

  const ten = [{ octets: Uint8Array.of(10, 0, 0, 0), bits: 8 }];
  it.each<[string, string[], string, string, Parameters<typeof testResolver>[1]?]>([
    ['is an alias', NS_1, 'ns1.host CNAME a.host\na.host CNAME b.other\nb.other A 5.5.5.5', SEEN],
    ['exists beside one that does not', [...NS_1, 'nothing.host.net.'], 'ns1.host A 5.5.5.5', SEEN],
    ['has a private address', NS_1, 'ns1.host A 10.1.1.1', 'no_address at shop.com.'],
    ['has a private address that is allowed', NS_1, 'ns1.host A 10.1.1.1', SEEN, { allowed: ten }],
    ['is an alias of itself', NS_1, 'ns1.host CNAME a.host\na.host CNAME ns1.host', 'loop at shop.com.'],
    ['has eight aliases', ['h0.net.'], aliases(8), SEEN],
    ['has nine aliases', ['h0.net.'], aliases(9), 'limit at shop.com.'],
    ['has only an IPv6 address', NS_1, 'ns1.host AAAA 2600::5', SEEN, { hasIpv6: true }],
    ['has no IPv4 address', NS_1, 'ns1.host AAAA 2600::5', 'no_address at shop.com.'],
  ])('that %s', async (_, shopNs, net, expected, options) => {
    expect(await observed(world(shopNs, net), 'www.shop.com', options)).toBe(expected);
  });

  it('is found in a zone of its own name, and below a name that the registry denies', async () => {
    const own = world(['host.net.'], 'host NS ns1.host\nns1.host A 7.7.7.7').serve(
      '7.7.7.7',
      zone('host.net.', '@ NS ns1\n@ A 5.5.5.5\nns1 A 7.7.7.7'),
    );
    expect(await observed(own)).toBe(SEEN);
    const denied = world(['ns.y.z.net.'], 'y.z NS ns.y.z\nns.y.z A 7.7.7.7')
      .serve('7.7.7.7', zone('y.z.net.', '@ NS ns\nns A 5.5.5.5'))
      .behave(NET, ({ name: asked, honest }) =>
        asked === 'z.net.' ? { ...honest(), rcode: RCODE.NXDOMAIN } : undefined,
      );
    expect(await observed(denied)).toBe(SEEN);
  });

  it('is asked at addresses of both families if there is IPv6', async () => {
    const exchange = world(NS_1, 'ns1.host A 5.5.5.5\nns1.host AAAA 2600::5');
    for (const [hasIpv6, addresses] of [
      [true, ['2600::5', '5.5.5.5']],
      [false, ['5.5.5.5']],
    ] as const) {
      const evidence = await testResolver(exchange, { hasIpv6 }).observe('www.shop.com');
      expect(evidence.servers.map(({ address }) => address).sort()).toEqual(addresses);
      expect(evidence.parentAddresses).toBe(addresses.length);
    }
  });

  it('counts as one address if it cannot be found; glue of its zone is not its address', async () => {
    const dead = 'ns1.host A 5.5.5.5\ndead NS ns.dead\nns.dead A 6.6.6.6';
    const exchange = world([...NS_1, 'ns.dead.net.'], dead).behave('6.6.6.6', () => 'silent');
    for (const seed of [1, 2, 3]) {
      const evidence = await testResolver(exchange, { random: dice(seed) }).observe('www.shop.com');
      expect([evidence.parentAddresses, outcomesOf(evidence)]).toEqual([2, [SEEN]]);
    }
  });

  it('is looked up again one second after a failed lookup', async () => {
    const exchange = plain().behave(NET, () => 'silent');
    const { observe, clock } = testResolver(exchange);
    expect(failure(await observe('www.shop.com'))).toBe('no_address at shop.com.');
    exchange.behave(NET, () => undefined);
    const again = await observe('www.shop.com');
    expect([failure(again), again.queries]).toEqual(['no_address at shop.com.', 0]);
    clock.now += 1000;
    expect(outcomesOf(await observe('www.shop.com'))).toEqual([SEEN]);
  });
});

it('looks up a few of many nameservers without glue (NXNSAttack)', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `ns.victim${i}.net.`);
  const evidence = await testResolver(world(names, '')).observe('www.shop.com');
  expect(failure(evidence)).toBe('no_address at shop.com.');
  // com, shop.com, net; then one query about each of four victims, and one about the host in it
  expect(evidence.queries).toBeLessThanOrEqual(3 + 2 * 4);
  expect(evidence.walk.at(-1)?.servers).toHaveLength(60);
});

describe('delegations in a circle', () => {
  const circle = 'a NS ns.b.\nb NS ns.a.';

  it('are a loop, also for concurrent checks from both sides', async () => {
    const evidence = await testResolver(internet(circle)).observe('shop.a');
    expect(failure(evidence)).toBe('loop at a.');
    expect(evidence).toMatchObject({ parent: name('a'), queries: 2 });
    const { observe } = testResolver(internet(circle));
    const both = await Promise.all(['x.a', 'x.b', 'y.a', 'y.b'].map((domain) => observe(domain)));
    expect(both.map(failure)).toEqual(['loop at a.', 'loop at b.', 'loop at a.', 'loop at b.']);
  });

  it('are not a loop if one zone has another nameserver', async () => {
    const exchange = internet(`${circle}\nb NS ns.c.\nc NS ns.c.\nns.c. A 6.6.6.6`)
      .serve('6.6.6.6', zone('c.', '@ NS ns\nns A 6.6.6.6'), zone('b.', '@ NS ns.c.\nns A 7.7.7.7'))
      .serve('7.7.7.7', zone('b.', '@ NS ns.c.\nns A 7.7.7.7'))
      .serve('7.7.7.7', zone('a.', '@ NS ns.b.\nns A 7.7.7.7\nshop NS ns1.host.net.'));
    for (const seed of [1, 2, 3, 4, 5]) {
      const { observe } = testResolver(exchange, { random: dice(seed) });
      const all = await Promise.all([observe('shop.a'), observe('x.b'), observe('other.a')]);
      expect(all.map((evidence) => outcomesOf(evidence)[0])).toEqual([SEEN, 'nxdomain', 'nxdomain']);
    }
  });

  it('take no more work the more of them there are', async () => {
    const zones = Array.from({ length: 12 }, (_, i) => `z${i}`);
    const mesh = zones.flatMap((at) => zones.filter((to) => to !== at).map((to) => `${at} NS ns.${to}.`));
    const exchange = internet(mesh.join('\n'));
    const { observe, clock } = testResolver(exchange);
    for (let i = 0; i < 3; i++, clock.now += 10_000) {
      const evidence = await observe('shop.z0');
      expect(['loop at z0.', 'limit at z0.']).toContain(failure(evidence));
    }
    expect(exchange.asked.length).toBeLessThanOrEqual(12);
  });

  it('may be missing glue, but not an address that cannot be reached', async () => {
    expect(await observed(internet('com NS ns.com.'), 'shop.com')).toBe('loop at com.');
    const unreachable = internet('com NS ns.com.\nns.com AAAA 2600::1');
    expect(await observed(unreachable, 'shop.com')).toBe('no_address at com.');
  });

  it('end if nameservers that need nameservers are nested too deeply', async () => {
    const levels = 12;
    const tlds = Array.from({ length: levels }, (_, i) => `t${i} NS ns.t${i + 1}.`).join('\n');
    const exchange = internet(`${tlds}\nt${levels} NS ns.t${levels}.\nns.t${levels}. A 9.9.1.1`).serve(
      '9.9.1.1',
      ...Array.from({ length: levels + 1 }, (_, i) => zone(`t${i}.`, '@ NS ns\nns A 9.9.1.1')),
    );
    expect(await observed(exchange, 'shop.t0')).toBe('limit at t0.');
    // It is within reach from closer, and with what was learned there, so is the first one.
    const { observe } = testResolver(exchange);
    for (const domain of ['shop.t8', 'shop.t3', 'shop.t0'])
      expect(outcomesOf(await observe(domain))).toEqual(['nxdomain']);
  });
});

describe('a server is not believed', () => {
  it('if it gives addresses of names outside its zone', async () => {
    const evil = { type: 1, ttl: 60, rdata: [Uint8Array.of(66, 66, 66, 66)] };
    const owners = ['ns1.host.net', 'a.gtld'].map((owner) => ({ owner: name(owner), ...evil }));
    const exchange = plain().behave(COM_A, ({ honest }) => ({ ...honest(), additionals: recordsIn(owners) }));
    expect(await observed(exchange)).toBe(SEEN);
    expect(exchange.asked.filter((text) => text.startsWith('66.'))).toEqual([]);
  });

  it('if it delegates other zones', async () => {
    const exchange = plain();
    const rdata = [Buffer.from(name('evil.com'), 'latin1')];
    const lie = (cut: string) =>
      reply({ authorities: recordsIn([{ owner: name(cut), type: 2, ttl: 60, rdata }]) });
    const { observe } = testResolver(exchange);
    for (const cut of ['.', 'com', 'net', 'host.net', 'x.www.shop.com']) {
      exchange.behave(SHOP, () => lie(cut));
      expect([cut, outcomesOf(await observe('www.shop.com'))]).toEqual([cut, ['lame']]);
    }
    exchange.behave(SHOP, () => undefined);
    expect(outcomesOf(await observe('www.shop.com'))).toEqual([SEEN]);
  });

  it('if it gives an address without AA', async () => {
    const exchange = plain().behave(NET, ({ type, honest }) =>
      type === 'A' ? { ...honest(), aa: false } : undefined,
    );
    expect(await observed(exchange)).toBe('no_address at shop.com.');
  });
});

it('asks servers of a zone and the one below for addresses of nameservers that nobody else knows', async () => {
  const co = zone('co.uk.', '@ NS ns1\n@ NS ns2\nns1 A 8.8.1.1\nns2 A 8.8.1.2\nshop NS ns1.host.net.');
  const uk = zone('uk.', '@ NS a.nic.uk.\na.nic A 8.8.1.3\nco NS ns1.co.uk.\nco NS ns2.co.uk.');
  const exchange = internet('uk NS a.nic.uk.\na.nic.uk A 8.8.1.3')
    .serve('8.8.1.3', uk, co)
    .serve('8.8.1.1', co)
    .serve('8.8.1.2', co)
    .behave('8.8.1.3', ({ honest }) => ({ ...honest(), additionals: [] }));
  const evidence = await testResolver(exchange).observe('shop.co.uk');
  expect([evidence.parent, ...outcomesOf(evidence)]).toEqual([name('co.uk'), SEEN, SEEN]);
  expect(evidence.walk.at(-1)?.servers.map(printName)).toEqual(['ns1.co.uk.', 'ns2.co.uk.']);
});

describe('registries whose nameservers are in one another at random', () => {
  /** Registries z0, z1, …, each with up to three nameservers, some of which have glue. */
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
    for (const [i, at] of served)
      exchange.serve(`9.9.9.${at}`, zone(`z${i}.`, `@ NS ns\nns A 9.9.9.${i}\nshop NS ns1.host.net.`));
    return exchange;
  }

  it('are found by many concurrent checks whenever one alone finds them, and every check ends', async () => {
    let found = 0;
    for (let seed = 1; seed <= scale(30, 10); seed++) {
      const count = 3 + (seed % 8);
      const domains = Array.from({ length: count }, (_, i) => `shop.z${i}`);
      const alone: boolean[] = [];
      for (const domain of domains)
        alone.push((await testResolver(tangle(seed, count)).observe(domain)).failure === undefined);
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
