import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import { until } from '../support/tests/until.ts';
import {
  COM_A,
  COM_B,
  comInternet,
  dice,
  failure,
  internet,
  outcomesOf,
  testResolver,
  walked,
} from '../support/world/test-resolver.ts';
import { name, recordsIn, reply, zone } from '../support/world/zone-exchange.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

const many = (count: number) => Array.from({ length: count }, (_, i) => `shop${i}.com`);
const delegatedMany = (count: number) =>
  Array.from({ length: count }, (_, i) => `shop${i} NS ns${i}.host.net.`).join('\n');

describe('checks at the same time', () => {
  it('ask once for what they all need', async () => {
    const exchange = comInternet(delegatedMany(50));
    const { observe } = testResolver(exchange);
    const all = await Promise.all(many(50).map((domain) => observe(domain)));
    expect(exchange.asked.filter((text) => text.endsWith(' com. NS'))).toHaveLength(1);
    expect(exchange.asked).toHaveLength(101);
    for (const [i, evidence] of all.entries()) {
      expect(outcomesOf(evidence)).toEqual(Array(2).fill(`referral ns${i}.host.net.`));
    }
    // The one that asked pays.
    expect(all.map(({ queries }) => queries).sort()).toEqual([...Array<number>(49).fill(2), 3]);
  });

  it('ask once for the address of a nameserver that they all need', async () => {
    const com = zone('com.', '@ NS a.gtld.\na NS ns.host.net.\nb NS ns.host.net.');
    const exchange = internet(`com NS a.gtld.\nnet NS a.gtld.\na.gtld. A ${COM_A}`)
      .serve(COM_A, com, zone('net.', '@ NS a.gtld.\nns.host A 5.5.5.5'))
      .serve(
        '5.5.5.5',
        zone('a.com.', '@ NS ns.host.net.\nx NS n.'),
        zone('b.com.', '@ NS ns.host.net.\nx NS n.'),
      );
    const { observe } = testResolver(exchange);
    const [a, b] = await Promise.all([observe('x.a.com'), observe('x.b.com')]);
    expect([outcomesOf(a), outcomesOf(b)]).toEqual([['referral n.'], ['referral n.']]);
    const questions = exchange.asked.map((text) => text.replace(/^\S+ /, ''));
    expect(new Set(questions).size).toBe(questions.length);
  });

  it('do not fail when the one that asks for all of them is given up', async () => {
    const exchange = comInternet(delegatedMany(3));
    const { observe } = testResolver(exchange);
    const gate = exchange.hold();
    const controller = new AbortController();
    const first = observe('shop0.com', { signal: controller.signal });
    const second = observe('shop1.com');
    const third = observe('shop2.com');
    await until(() => exchange.asked.length === 1);
    const reason = new Error('not wanted any more');
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    gate.release();
    expect((await Promise.all([second, third])).map(outcomesOf)).toEqual([
      Array(2).fill('referral ns1.host.net.'),
      Array(2).fill('referral ns2.host.net.'),
    ]);
    expect(exchange.asked.filter((text) => text.endsWith(' com. NS'))).toHaveLength(2);
  });

  it('do not fail when one that waits is given up', async () => {
    const exchange = comInternet(delegatedMany(2));
    const { observe } = testResolver(exchange);
    const gate = exchange.hold();
    const controller = new AbortController();
    const first = observe('shop0.com');
    const second = observe('shop1.com', { signal: controller.signal });
    controller.abort();
    await expect(second).rejects.toThrow('aborted');
    gate.release();
    expect(outcomesOf(await first)).toEqual(Array(2).fill('referral ns0.host.net.'));
  });

  it('share the failure of what they all need', async () => {
    const exchange = internet(`com NS a.gtld.\na.gtld. A ${COM_A}`).behave(COM_A, () => 'silent');
    const { observe } = testResolver(exchange);
    const all = await Promise.all(['a.b.com', 'c.b.com', 'd.b.com'].map((domain) => observe(domain)));
    expect(all.map(failure)).toEqual(Array(3).fill('unreachable at com.'));
    expect(exchange.asked.filter((text) => text.endsWith(' b.com. NS'))).toHaveLength(1);
  });

  it('spread their questions over all that the parent has', async () => {
    const addresses = Array.from({ length: 8 }, (_, i) => `192.5.6.3${i}`);
    const com = zone('com.', '@ NS 0.gtld.\nexample NS ns.host.net.');
    const text = addresses
      .map((address, i) => `com NS ${i % 4}.gtld.\n${i % 4}.gtld. A ${address}`)
      .join('\n');
    const exchange = addresses.reduce((world, address) => world.serve(address, com), internet(text));
    const { observe } = testResolver(exchange);
    await observe('example.com');
    exchange.takeAsked();
    for (let i = 0; i < 400; i++) {
      const { servers } = await observe('example.com');
      expect(new Set(servers.map(({ server }) => server)).size).toBe(2); // never two addresses of one server
    }
    for (const address of addresses) {
      const share = exchange.asked.filter((asked) => asked.startsWith(address)).length / 800;
      expect(share).toBeGreaterThan(0.05);
      expect(share).toBeLessThan(0.2);
    }
  });

  it('ask one address of each family where there is IPv6, and no IPv6 address where there is none', async () => {
    const com = zone('com.', '@ NS 1.gtld.\nexample NS ns.host.net.');
    const text = '1 2 3'.replaceAll(
      /\d/g,
      (i) => `com NS ${i}.gtld.\n${i}.gtld. A 192.5.6.3${i}\n${i}.gtld. AAAA 2600::${i}\n`,
    );
    const exchange = internet(text.replaceAll('\n ', '\n'));
    for (const i of [1, 2, 3]) exchange.serve(`192.5.6.3${i}`, com).serve(`2600::${i}`, com);
    const six = testResolver(exchange, { hasIpv6: true });
    for (let i = 0; i < 20; i++) {
      const { servers, parentAddresses } = await six.observe('example.com');
      expect(servers.map(({ address }) => address.includes(':')).sort()).toEqual([false, true]);
      expect(parentAddresses).toBe(6);
    }
    exchange.takeAsked();
    const four = testResolver(exchange);
    for (let i = 0; i < 20; i++) expect((await four.observe('example.com')).parentAddresses).toBe(3);
    expect(exchange.asked.filter((asked) => asked.includes('2600:'))).toEqual([]);
  });
});

describe('what is remembered', () => {
  const world = (ttl: number) => {
    const root = `com ${ttl} NS a.gtld.\ncom ${ttl} NS b.gtld.\na.gtld. ${ttl} A ${COM_A}\nb.gtld. ${ttl} A ${COM_B}`;
    const com = zone('com.', '@ NS a.gtld.\n@ NS b.gtld.\nx.ent NS ns.host.net.');
    return internet(root).serve(COM_A, com).serve(COM_B, com);
  };
  const seconds = async (ttl: number, domain: string, forget: string) => {
    const exchange = world(ttl);
    const { observe, clock } = testResolver(exchange);
    const start = clock.now;
    await observe(domain);
    for (;;) {
      exchange.takeAsked();
      clock.now += 300_000;
      await observe(domain);
      if (exchange.asked.some((text) => text.endsWith(` ${forget} NS`))) return (clock.now - start) / 1000;
    }
  };

  it('of a cut lasts as long as its TTL, and a day at most', async () => {
    expect(await seconds(7200, 'a.com', 'com.')).toBe(7200);
    expect(await seconds(604_800, 'a.com', 'com.')).toBe(86_400);
  });

  it('of no cut lasts as long as the SOA says', async () => {
    expect(await seconds(604_800, 'x.ent.com', 'ent.com.')).toBe(600);
  });

  it('of no cut lasts an hour at most', async () => {
    const soa = (minimum: number) => `@ 604800 SOA a.gtld. x. 1 2 3 4 ${minimum}`;
    const root = `com 604800 NS a.gtld.\na.gtld. 604800 A ${COM_A}`;
    const exchange = internet(root).serve(
      COM_A,
      zoneWithSoa('com.', soa(86_400), '@ NS a.gtld.\nx.ent NS ns.host.net.'),
    );
    const { observe, clock } = testResolver(exchange);
    await observe('x.ent.com');
    clock.now += 3_599_000;
    expect((await observe('x.ent.com')).queries).toBe(1);
    clock.now += 1000;
    expect((await observe('x.ent.com')).queries).toBe(2);
  });

  it('is nothing with a TTL of 0, and the check gets on all the same', async () => {
    const { observe } = testResolver(world(0));
    for (let i = 0; i < 2; i++) {
      const evidence = await observe('x.ent.com');
      expect(outcomesOf(evidence)).toEqual(Array(2).fill('referral ns.host.net.'));
    }
    expect((await observe('x.ent.com')).queries).toBe(3); // com, and the domain twice
    expect(walked(await observe('x.ent.com'))).toBe('(.) com.');
  });

  it('has a bound', async () => {
    const exchange = comInternet('');
    const { observe } = testResolver(exchange, { cacheEntries: 10 });
    for (let i = 0; i < 100; i++) await observe(`x.y${i}.com`);
    exchange.takeAsked();
    expect((await observe('x.y99.com')).queries).toBe(2);
    expect((await observe('x.y1.com')).queries).toBe(3);
  });
});

function zoneWithSoa(origin: string, soa: string, text: string) {
  return zoneOf(origin, `${soa}\n${text}`);
}

describe('the limits of a check', () => {
  it('hold for packets', async () => {
    const com = zone('com.', '@ NS a.gtld.\nexample NS ns.host.net.');
    const exchange = internet(`com NS a.gtld.\na.gtld. A ${COM_A}`).serve(COM_A, com);
    const labels = Array.from({ length: 80 }, (_, i) => `l${i}`).join('.');
    const evidence = await testResolver(exchange).observe(`${labels.slice(0, 200)}.example.com`);
    expect(evidence.queries).toBeLessThanOrEqual(60);

    // Each name below is there, without a cut: the longest names need more questions than a check has.
    const endless = internet('')
      .behave('198.41.0.4', () => soaReply())
      .behave('170.247.170.2', () => soaReply());
    const long = await testResolver(endless).observe(`${Array.from({ length: 100 }, () => 'a').join('.')}`);
    expect(failure(long)).toBe('limit at .');
    expect(long).toMatchObject({ queries: 60, parent: undefined });
    expect(endless.packets).toBe(60);
    expect(long.failure?.message).toBe('more than 60 packets would be needed');
  });

  it('hold for packets that are sent again too', async () => {
    const exchange = comInternet(delegatedMany(1));
    for (const address of [COM_A, COM_B]) exchange.behave(address, () => 'silent');
    const evidence = await testResolver(exchange, { limits: { packets: 3 } }).observe('shop0.com');
    expect(evidence).toMatchObject({ queries: 3, parent: name('com'), failure: undefined });
    expect(outcomesOf(evidence)).toEqual(['timeout', 'timeout']);
    expect(exchange.packets).toBe(3);
  });

  it('hold for delegations', async () => {
    // Every server knows of a zone below the one that it is asked for.
    const refer = (asked: string) =>
      reply({
        authorities: recordsIn([
          { owner: name(asked), type: 2, ttl: 60, rdata: [Buffer.from(name(`ns.${asked}`), 'latin1')] },
        ]),
        additionals: recordsIn([
          { owner: name(`ns.${asked}`), type: 1, ttl: 60, rdata: [Uint8Array.of(6, 6, 6, 6)] },
        ]),
      });
    const exchange = internet('').behave('6.6.6.6', ({ name: asked }) => refer(asked));
    for (const root of ['198.41.0.4', '170.247.170.2'])
      exchange.behave(root, ({ name: asked }) => refer(asked));
    const deep = Array.from({ length: 30 }, (_, i) => `l${i}`).join('.');
    const evidence = await testResolver(exchange).observe(deep);
    expect(evidence.failure).toMatchObject({
      reason: 'limit',
      message: 'more than 20 delegations had to be asked for',
    });
    expect(evidence.queries).toBe(21);
    expect(evidence.walk).toHaveLength(21);
    expect(evidence.walk.at(-1)?.zone).toBe(evidence.failure?.zone);
  });

  it('hold for time, in the middle of a question', async () => {
    const exchange = comInternet(delegatedMany(1))
      .behave('198.41.0.4', () => 'hangs')
      .behave('170.247.170.2', () => 'hangs');
    const { observe } = testResolver(exchange, { limits: { milliseconds: 30 } });
    const evidence = await observe('shop0.com');
    expect(evidence).toMatchObject({
      failure: { reason: 'limit', zone: name('.'), message: 'not done within 0.03 s' },
    });
  });

  it('hold for time at the parent, where what was seen until then counts', async () => {
    const exchange = comInternet(delegatedMany(1)).behave(COM_A, ({ name: asked }) =>
      asked === 'com.' ? undefined : 'hangs',
    );
    const { observe } = testResolver(exchange, { limits: { milliseconds: 30 } });
    const evidence = await observe('shop0.com');
    expect(outcomesOf(evidence)).toEqual(['referral ns0.host.net.', 'timeout']);
    expect(evidence).toMatchObject({ failure: undefined, parentAddresses: 2, parent: name('com') });
    expect(evidence.servers.map(({ error }) => error).sort()).toEqual(['not done within 0.03 s', undefined]);
  });

  it('make servers that outlast them unreachable', async () => {
    const exchange = comInternet('');
    let asked = 0;
    for (const root of ['198.41.0.4', '170.247.170.2'])
      exchange.behave(root, () => (asked++ === 0 ? 'silent' : 'hangs'));
    const { observe, clock } = testResolver(exchange, { limits: { milliseconds: 30 } });
    expect(failure(await observe('shop0.com'))).toBe('unreachable at .');
    expect((await observe('shop0.com')).queries).toBe(0); // remembered
    clock.now += 2000;
    expect((await observe('shop0.com')).queries).toBeGreaterThan(0);
  });
});

function soaReply() {
  const [soa] = zone('.', '@ NS a.').nodes.get(name('.'))?.sets.values() ?? [];
  if (soa === undefined) throw new Error('the zone has no SOA');
  return reply({ aa: true, authorities: recordsIn([soa]) });
}

describe('a resolver', () => {
  it('counts its packets', async () => {
    const exchange = comInternet(delegatedMany(2)).behave(COM_A, ({ name: asked }) =>
      asked === 'shop0.com.' ? 'silent' : asked === 'shop1.com.' ? 'bad' : undefined,
    );
    const { observe, resolver } = testResolver(exchange);
    await observe('shop0.com');
    expect(resolver.packets()).toEqual({ sent: 4, replies: 2, timeouts: 1, bad: 0, barred: 0 });
    await observe('shop1.com');
    expect(resolver.packets()).toMatchObject({ replies: 3, bad: 1, sent: 6 });
  });

  it('asks for a share of the address before each question', async () => {
    const { observe, taken } = testResolver(comInternet(delegatedMany(1)));
    await observe('shop0.com');
    expect(taken).toHaveLength(3);
  });

  it('ends its checks when it is closed', async () => {
    const exchange = comInternet(delegatedMany(1));
    const { observe, resolver } = testResolver(exchange);
    exchange.hold();
    const check = observe('shop0.com');
    const ended = expect(check).rejects.toThrow('given up');
    await resolver.close();
    await ended;
    expect(exchange.isClosed).toBe(true);
    await expect(observe('shop0.com')).rejects.toThrow('closed');
  });

  it('does not begin for a signal that is aborted already', async () => {
    const exchange = comInternet(delegatedMany(1));
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(testResolver(exchange).observe('shop0.com', { signal })).rejects.toThrow('too late');
    expect(exchange.asked).toEqual([]);
  });

  it('lets faults of its own through', async () => {
    const exchange = internet(`com NS a.gtld.\na.gtld. A ${COM_A}`);
    await expect(testResolver(exchange).observe('shop0.com')).rejects.toThrow('nobody has that address');
  });

  it('does the same again for the same dice', async () => {
    const run = async (): Promise<[Evidence, string[]]> => {
      const exchange = comInternet(delegatedMany(3));
      const { observe } = testResolver(exchange, { random: dice(42) });
      await observe('shop0.com');
      return [await observe('shop2.com'), exchange.asked];
    };
    expect(await run()).toEqual(await run());
  });
});
