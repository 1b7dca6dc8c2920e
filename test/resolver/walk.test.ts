import { afterEach, describe, expect, it } from 'vitest';
import type { ServerEvidence, ServerOutcome } from '../../src/checks/delegation/evidence.ts';
import type { Message } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { type Name, printName, ROOT } from '../../src/dns/name.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import {
  classifyResolverReply,
  type ResolverReply,
} from '../../src/resolver/replies/classify-resolver-reply.ts';
import type { ZoneAddress } from '../../src/resolver/state/known-zone.ts';
import { DEFAULT_LIMITS } from '../../src/resolver/state/limits.ts';
import { ResolverState } from '../../src/resolver/state/resolver-state.ts';
import { Work } from '../../src/resolver/state/work.ts';
import type { CutState } from '../../src/resolver/state/zone-cache.ts';
import { askResolver, nextResolver } from '../../src/resolver/walk/ask-resolver.ts';
import { nextParentStep, nextStep } from '../../src/resolver/walk/next-step.ts';
import { pickAddresses } from '../../src/resolver/walk/pick-addresses.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
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
} from '../support/world/test-resolver.ts';
import { type Conduct, name, recordsIn, reply, ZoneExchange, zone } from '../support/world/zone-exchange.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

function messageOf(answer: string, parts: Partial<Message> = {}): Message {
  const answers = recordsOf(answer).map((record) => ({ ...record, class: CLASS.IN }));
  return reply({ ra: true, answers, ...parts });
}

function print(said: ResolverReply): string {
  if (said.kind === 'failed') return `failed: ${said.error}`;
  const aliases = said.aliases.map(
    (alias) => `${printName(alias.name)}>${printName(alias.target)} ${alias.ttl}; `,
  );
  if (said.kind !== 'answer') return `${aliases.join('')}${said.kind}`;
  return `${aliases.join('')}${printName(said.name)} ${said.ttl} ${said.rdata.map((each) => each.join('.')).join(' ')}`;
}

const QUESTION = { name: name('www.example.com'), type: TYPE.A };

/** What the reply does | its records | RCODE and flags | its classification. */
describe('the reply of a resolver', () => {
  it.each(
    rowsOf(`
gives the records of the name, in any case | WWW.example.com. 30 A 1.2.3.4 / www.example.com. 30 A 1.2.3.5 | RA | www.example.com. 30 1.2.3.4 1.2.3.5
gives the records that its aliases lead to, in any order | b.net. 9 A 1.2.3.4 / a.net. 7 CNAME B.net. / www.example.com. 60 CNAME a.net. | RA | www.example.com.>a.net. 60; a.net.>b.net. 7; b.net. 9 1.2.3.4
gives nothing that its aliases do not lead to | www.example.com. 60 CNAME a.net. / c.net. 9 A 1.2.3.4 | RA | www.example.com.>a.net. 60; nodata
has no data | | RA | nodata
denies the name | | RA NXDOMAIN | nxdomain
denies the target (RFC 6604 §3) | www.example.com. 60 CNAME a.net. | RA NXDOMAIN | www.example.com.>a.net. 60; nxdomain
fails with SERVFAIL | | RA SERVFAIL | failed: SERVFAIL
fails with REFUSED | | RA REFUSED | failed: REFUSED
fails if the server does not resolve | | | failed: it does not resolve names
counts from a server that has the zone | www.example.com. 60 A 1.2.3.4 | AA | www.example.com. 60 1.2.3.4
fails if it is cut short | www.example.com. 60 A 1.2.3.4 | RA TC | failed: the reply is truncated over TCP as well
fails if its aliases are a loop | www.example.com. 60 CNAME a.net. / a.net. 60 CNAME www.example.com. | RA | failed: www.example.com. is an alias that leads to itself
fails with two aliases at one name | www.example.com. 60 CNAME a.net. / www.example.com. 60 CNAME b.net. | RA | failed: www.example.com. is an alias of several names
fails with an answer for a name that does not exist | www.example.com. 60 A 1.2.3.4 | RA NXDOMAIN | failed: an answer with NXDOMAIN`),
  )('%s', (_, records, flags = '', expected) => {
    const words = flags.split(' ');
    const rcode = words.find((word) => word in RCODE) as keyof typeof RCODE | undefined;
    const message = messageOf(itemsOf(records).join('\n'), {
      ...{ aa: words.includes('AA'), ra: words.includes('RA'), tc: words.includes('TC') },
      rcode: RCODE[rcode ?? 'NOERROR'],
    });
    expect(print(classifyResolverReply(message, QUESTION))).toBe(expected);
  });

  it('has the queried type, even if that is CNAME', () => {
    const message = messageOf('www.example.com. 60 CNAME a.net.\na.net. 60 A 1.2.3.4');
    const expected = { kind: 'answer', name: QUESTION.name, aliases: [] };
    expect(classifyResolverReply(message, { ...QUESTION, type: TYPE.CNAME })).toMatchObject(expected);
  });
});

const RESOLVERS = ['9.9.9.9', '8.8.8.8#5353'];

/** The parts of a state besides the public resolvers. */
const OTHERWISE: ConstructorParameters<typeof ResolverState>[0] = {
  findAddresses: () => Promise.reject(new Error('nobody looks up a server here')),
  exchange: new ZoneExchange(),
  ...{ rootServers: [], allowed: [], rates: { take: async () => {} }, hasIpv6: () => false },
  ...{ now: Date.now, random: Math.random, limits: DEFAULT_LIMITS, cacheEntries: 10 },
};

function start(conduct: ReturnType<Conduct>, signal?: AbortSignal) {
  const taken: string[] = [];
  const exchange = new ZoneExchange();
  for (const address of RESOLVERS) exchange.behave(address, () => conduct);
  const rates = { take: async (address: string) => void taken.push(address) };
  const publicResolvers = { exchange, addresses: RESOLVERS, rates };
  const state = new ResolverState({ ...OTHERWISE, publicResolvers });
  const work = new Work({ ...DEFAULT_LIMITS, packets: 2 }, signal);
  works.push(work);
  return { state, taken, work, ask: () => askResolver(state, work, '8.8.8.8#5353', QUESTION) };
}

const works: Work[] = [];
afterEach(() => {
  for (const work of works.splice(0)) work.end();
});

describe('a query to a resolver', () => {
  it.each<[string, ReturnType<Conduct>, string, object]>([
    [
      'a reply',
      messageOf('www.example.com. 60 A 1.2.3.4'),
      'www.example.com. 60 1.2.3.4',
      { sent: 1, replies: 1 },
    ],
    ['silence', 'silent', 'failed: no reply', { sent: 2, timeouts: 1 }],
    ['an error', 'bad', 'failed: refused by the kernel', { sent: 1, bad: 1 }],
  ])('waits for its slot there, and counts packets, with %s', async (_, conduct, expected, packets) => {
    const { state, taken, work, ask } = start(conduct);
    expect(print(await ask())).toBe(expected);
    expect(taken).toEqual(['8.8.8.8#5353']);
    expect(state.packets).toEqual({ sent: 0, replies: 0, timeouts: 0, bad: 0, barred: 0, ...packets });
    expect(work.packets).toBe(state.packets.sent);
  });

  it('ends with its work, and when that has no packets left', async () => {
    const controller = new AbortController();
    const asked = start('hangs', controller.signal).ask();
    setImmediate(() => controller.abort());
    await expect(asked).rejects.toMatchObject({ name: 'Stopped', by: 'aborted' });
    const { ask } = start('bad');
    for (const _ of [1, 2]) await ask();
    await expect(ask()).rejects.toThrow('more than 2 packets');
  });

  it('goes to each in turn', () => {
    const { state } = start('hangs');
    expect([1, 2, 3].map(() => nextResolver(state))).toEqual(['9.9.9.9', '8.8.8.8#5353', '9.9.9.9']);
  });
});

const NET = '192.5.6.40';
const SHOP = '5.5.5.5';
const SEEN = 'referral ns1.host.net.';
const NS_1 = ['ns1.host.net.'];
const SHOP_ZONE = zone('shop.com.', '@ NS ns1.host.net.\nwww NS ns1.host.net.');

/** com delegates `shop` to nameservers without glue. `net` has the records of net. */
function world(shopNs: readonly string[], net: string): ZoneExchange {
  const com = zone('com.', `@ NS a.gtld.\n${shopNs.map((ns) => `shop NS ${ns}`).join('\n')}`);
  const exchange = internet(`com NS a.gtld.\nnet NS n.gtld.\na.gtld. A ${COM_A}\nn.gtld. A ${NET}`)
    .serve(COM_A, com)
    .serve(NET, zone('net.', `@ NS n.gtld.\n${net}`));
  for (const address of [SHOP, '2600::5', '10.1.1.1']) exchange.serve(address, SHOP_ZONE);
  return exchange;
}
const plain = () => world(NS_1, 'ns1.host A 5.5.5.5');

/** Returns the failure, or the answers of the parent's servers. */
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
  it('is looked up from the root, and cached for the TTL of its address', async () => {
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
    ['exists next to one that does not', [...NS_1, 'nothing.host.net.'], 'ns1.host A 5.5.5.5', SEEN],
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

  it('is found in a zone of the same name, and below a name that the registry denies', async () => {
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

  it('is queried at addresses of both families if there is IPv6', async () => {
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

  it('counts as one address if it cannot be found, and glue of its zone is not its address', async () => {
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

it('looks up only a few of many nameservers without glue (NXNSAttack)', async () => {
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

  it('do not take more work if there are more of them', async () => {
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

  it('may lack glue, but not a reachable address', async () => {
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
    // It is reachable from closer, and with the data learned there, so is the first one.
    const { observe } = testResolver(exchange);
    for (const domain of ['shop.t8', 'shop.t3', 'shop.t0'])
      expect(outcomesOf(await observe(domain))).toEqual(['nxdomain']);
  });
});

describe('a server is not trusted', () => {
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

  it('if it gives an address without the AA bit', async () => {
    const exchange = plain().behave(NET, ({ type, honest }) =>
      type === 'A' ? { ...honest(), aa: false } : undefined,
    );
    expect(await observed(exchange)).toBe('no_address at shop.com.');
  });
});

it('servers of a zone and of the one below are queried for otherwise unknown addresses of nameservers', async () => {
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

  it('are found by many concurrent checks if a single one finds them, and every check ends', async () => {
    let found = 0;
    for (let seed = 1; seed <= scale(30, 4); seed++) {
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
    expect(found).toBeGreaterThan(scale(50, 6));
  });
});

interface TestZone {
  readonly zone: Name;
}

/** `known` has `com=cut` for each known name. */
function step(wanted: string, known: string, inclusive = false): string {
  const states = new Map<Name, CutState<TestZone>>();
  for (const [text = '', kind] of known
    .split(' ')
    .filter(Boolean)
    .map((word) => word.split('='))) {
    const at = name(text);
    const failure = { zone: ROOT, reason: 'unreachable', message: '' } as const;
    if (kind === 'cut') states.set(at, { kind, zone: { zone: at } });
    else if (kind === 'failed') states.set(at, { kind, failure });
    else if (kind !== undefined) states.set(at, { kind: kind as 'none' });
  }
  const next = nextStep(name(wanted), { zone: ROOT }, (at) => states.get(at), { inclusive });
  expect(next.path.at(-1)).toBe(next.zone);
  switch (next.kind) {
    case 'ask':
      return `ask ${printName(next.zone.zone)} about ${printName(next.name)}`;
    case 'arrived': {
      const path = next.path.map(({ zone }) => printName(zone)).join(' ');
      return `arrived by ${path}${next.doubt === undefined ? '' : `, doubting ${printName(next.doubt)}`}`;
    }
    case 'failed':
      return `failed: ${next.failure.reason}`;
  }
}

describe('the walk to the parent', () => {
  it.each(
    rowsOf(`
the root is the parent of a single label | com | | arrived by .
the first label below the root is asked first | a.co.uk | | ask . about uk.
a cut leads on | a.co.uk | uk=cut | ask uk. about co.uk.
the last cut above the domain is the parent | a.co.uk | uk=cut co.uk=cut | arrived by . uk. co.uk.
a name without a cut is not a zone, for any number of labels | a.co.uk | uk=cut co.uk=none | arrived by . uk.
a name without a cut is skipped | a.b.c.d | d=none | ask . about c.d.
a cut may be below a name without one | a.b.c.d | d=none c.d=cut | ask c.d. about b.c.d.
nothing is asked below a name that does not exist | a.b.c.d | d=cut c.d=nothing | arrived by . d., doubting c.d.
cuts below a name that does not exist are ignored | a.b.c.d | d=nothing c.d=cut | arrived by ., doubting d.
a failure ends it | a.b.c | c=cut b.c=failed | failed: unreachable
what is known of the domain itself is ignored | a.b | b=cut a.b=cut | arrived by . b.`),
  )('%s', (_, wanted = '', known = '', expected) => {
    expect(step(wanted, known)).toBe(expected);
  });

  it('the zone of a nameserver may have the same name', () => {
    expect(step('a.b', 'b=cut a.b=cut', true)).toBe('arrived by . b. a.b.');
    expect(step('a.b', 'b=cut', true)).toBe('arrived by . b.');
    expect(step('a.b', 'b=cut a.b=failed', true)).toBe('arrived by . b.');
  });

  it('the walk may start below the root', () => {
    const next = nextStep(name('a.b.example.com'), { zone: name('example.com') }, () => undefined);
    expect(next.kind === 'ask' && printName(next.name)).toBe('b.example.com.');
  });
});

function server(text: string): ServerEvidence {
  const [outcome, ...words] = text.split(' ') as [ServerOutcome, ...string[]];
  const [ds] = words.filter((word) => word.startsWith('ds='));
  return {
    ...{ server: ROOT, address: '1.2.3.4', transport: 'udp', askedAt: 0, rttMs: 1, outcome },
    ...{ rcode: undefined, aa: undefined, ttl: undefined, error: undefined },
    ns: words.filter((word) => !word.startsWith('ds=')).map(name),
    ds: ds === undefined ? [] : [Buffer.from(ds)],
  };
}

/** The answers so far | addresses, servers, unresolved nameservers (default 10 5 0) | the next step. */
it.each(
  rowsOf(`
two are asked first | | | ask 2
a single address is all there is | | 1 1 0 | ask 1
two servers are wanted, not two addresses of one | | 2 1 1 | ask 1
the second is looked up | referral a | 1 0 1 | resolve
and asked | referral a | 2 1 0 | ask 1
or another address of the first | referral a | 1 0 0 | ask 1
two addresses of one server must do if there is no other | | 2 1 0 | ask 2
without an address one is looked up | | 0 0 3 | resolve
without any nameserver there is nothing to do | | 0 0 0 | done
two that agree are enough | referral a b / referral a b | | done
two that say NXDOMAIN are enough | nxdomain / nxdomain | | done
two without data are enough | nodata / nodata | | done
two aliases are enough | alias / alias | | done
all are asked if sets differ | referral a b / referral a c | | ask 4
all are asked if one has one more name | referral a / referral a b | | ask 4
all are asked if DS sets differ | referral a ds=1 / referral a | | ask 4
no data and NXDOMAIN differ | nodata / nxdomain | | ask 4
a referral and an answer differ | referral a / answer a | | ask 4
after answers alone, another may refer | answer a / answer a | | ask 4
answers from all there are | answer a / answer a | 0 0 0 | done
a silent one is replaced | referral a / timeout | | ask 1
a lame one is replaced | lame / nxdomain | | ask 1
then two of three agree | referral a / timeout / referral a | | done
then two of three fail | referral a / timeout / refused | | ask 3
then two of three differ | referral a / timeout / referral b | | ask 3
all are asked if both are silent | timeout / timeout | | ask 4
no more than there are | timeout / timeout | 1 1 0 | ask 1
then others are looked up | timeout / timeout | 0 0 1 | resolve
six are enough | timeout / timeout / timeout / timeout / timeout / timeout | | done
six are enough even if they differ | nodata / referral a / referral a / referral a / referral a / referral a | | done
a single one that was all there is | referral a | 0 0 0 | done
a single one, and another to look up | referral a | 0 0 1 | resolve`),
)('at the parent %s', (_, answers, rest, expected) => {
  const [addresses = 10, servers = 5, unresolved = 0] = (rest || '10 5 0').split(' ').map(Number);
  const view = { addresses, servers, unresolved, maxAddresses: 6 };
  const next = nextParentStep({ answers: itemsOf(answers).map(server), ...view });
  expect(next.kind === 'ask' ? `ask ${next.count}` : next.kind).toBe(expected);
});

/** `a 1.1.1.1 rtt=20 shunned`. */
function address(text: string): ZoneAddress {
  const [server = '', at = '', ...rest] = text.split(' ');
  const rtt = rest.find((word) => word.startsWith('rtt='));
  return {
    server: name(server),
    address: at,
    isIpv6: at.includes(':'),
    rttMs: rtt === undefined ? undefined : Number(rtt.slice(4)),
    misses: 0,
    shunnedUntil: rest.includes('shunned') ? 1 : 0,
  };
}

/** The sets that occur in many random choices. */
function picks(candidates: readonly string[], count: number, asked: readonly string[] = []): string[] {
  const sets = new Set<string>();
  const random = dice(7);
  for (let i = 0; i < 200; i++) {
    const picked = pickAddresses(candidates.map(address), count, {
      now: 0,
      random,
      asked: asked.map(address),
    });
    sets.add(picked.map((each) => each.address).join(' '));
  }
  return [...sets].sort();
}

describe('chosen addresses', () => {
  it('are of different nameservers', () => {
    expect(picks(['a 1.1.1.1', 'a 1.1.1.2', 'b 2.2.2.2'], 2)).toEqual([
      '1.1.1.1 2.2.2.2',
      '1.1.1.2 2.2.2.2',
      '2.2.2.2 1.1.1.1',
      '2.2.2.2 1.1.1.2',
    ]);
    expect(picks(['a 1.1.1.2', 'b 2.2.2.2'], 1, ['a 1.1.1.1'])).toEqual(['2.2.2.2']);
  });

  it('are of both families if possible', () => {
    expect(picks(['a 1.1.1.1', 'a 2600::1', 'b 2.2.2.2', 'b 2600::2'], 2)).toEqual([
      '1.1.1.1 2600::2',
      '2.2.2.2 2600::1',
      '2600::1 2.2.2.2',
      '2600::2 1.1.1.1',
    ]);
  });

  it('are those that answer, even if all belong to one nameserver', () => {
    expect(picks(['a 1.1.1.1', 'a 1.1.1.2', 'b 2.2.2.2 shunned'], 2)).toEqual([
      '1.1.1.1 1.1.1.2',
      '1.1.1.2 1.1.1.1',
    ]);
  });

  it('are the others if there is nothing else', () => {
    expect(picks(['a 1.1.1.1', 'b 2.2.2.2 shunned'], 2)).toEqual(['1.1.1.1 2.2.2.2']);
    expect(picks(['b 2.2.2.2 shunned'], 2)).toEqual(['2.2.2.2']);
    expect(picks([], 2)).toEqual(['']);
  });

  it('are the fast ones, which count as equal', () => {
    expect(picks(['a 1.1.1.1 rtt=10', 'b 2.2.2.2 rtt=200', 'c 3.3.3.3 rtt=250', 'd 4.4.4.4'], 1)).toEqual([
      '1.1.1.1',
      '2.2.2.2',
      '4.4.4.4',
    ]);
  });
});
