import { describe, expect, it } from 'vitest';
import { until } from '../support/tests/until.ts';
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
} from '../support/world/test-resolver.ts';
import {
  type Conduct,
  name,
  recordsIn,
  reply,
  type ZoneExchange,
  zone,
} from '../support/world/zone-exchange.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

const behaveRoot = (exchange: ZoneExchange, conduct: Conduct) =>
  exchange.behave(ROOT_A, conduct).behave(ROOT_B, conduct);
const many = (count: number) => Array.from({ length: count }, (_, i) => `shop${i}.com`);
const delegatedMany = (count: number) =>
  Array.from({ length: count }, (_, i) => `shop${i} NS ns${i}.host.net.`).join('\n');

describe('concurrent checks', () => {
  it('share one query for data that all of them need', async () => {
    const exchange = comInternet(delegatedMany(50));
    const { observe } = testResolver(exchange);
    const all = await Promise.all(many(50).map((domain) => observe(domain)));
    expect(exchange.asked.filter((text) => text.endsWith(' com. NS'))).toHaveLength(1);
    expect(exchange.asked).toHaveLength(101);
    for (const [i, evidence] of all.entries()) {
      expect(outcomesOf(evidence)).toEqual(Array(2).fill(`referral ns${i}.host.net.`));
    }
    // The check that sent the query pays for it.
    expect(all.map(({ queries }) => queries).sort()).toEqual([...Array<number>(49).fill(2), 3]);
  });

  it("share one lookup of a nameserver's address that all of them need", async () => {
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

  it('do not fail if the one that queries for all of them is aborted', async () => {
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

  it('share the failure of data that all of them need', async () => {
    const exchange = internet(`com NS a.gtld.\na.gtld. A ${COM_A}`).behave(COM_A, () => 'silent');
    const { observe } = testResolver(exchange);
    const all = await Promise.all(['a.b.com', 'c.b.com', 'd.b.com'].map((domain) => observe(domain)));
    expect(all.map(failure)).toEqual(Array(3).fill('unreachable at com.'));
    expect(exchange.asked.filter((text) => text.endsWith(' b.com. NS'))).toHaveLength(1);
  });

  it("spread their queries over all of the parent's addresses", async () => {
    const addresses = Array.from({ length: 8 }, (_, i) => `192.5.6.3${i}`);
    const com = zone('com.', '@ NS 0.gtld.\nexample NS ns.host.net.');
    const text = addresses
      .map((address, i) => `com NS ${i % 4}.gtld.\n${i % 4}.gtld. A ${address}`)
      .join('\n');
    const exchange = addresses.reduce((world, address) => world.serve(address, com), internet(text));
    const { observe } = testResolver(exchange);
    await observe('example.com');
    exchange.takeAsked();
    for (let i = 0; i < 250; i++) {
      const { servers } = await observe('example.com');
      expect(new Set(servers.map(({ server }) => server)).size).toBe(2); // never two addresses of one server
    }
    for (const address of addresses) {
      const share = exchange.asked.filter((asked) => asked.startsWith(address)).length / 500;
      expect(share).toBeGreaterThan(0.05);
      expect(share).toBeLessThan(0.2);
    }
  });
});

describe('the cache', () => {
  const world = (ttl: number, minimum = 600) => {
    const root = `com ${ttl} NS a.gtld.\ncom ${ttl} NS b.gtld.\na.gtld. ${ttl} A ${COM_A}\nb.gtld. ${ttl} A ${COM_B}`;
    const text = `@ 604800 SOA a.gtld. x. 1 2 3 4 ${minimum}\n@ NS a.gtld.\n@ NS b.gtld.\nx.ent NS ns.host.net.`;
    const com = zoneOf('com.', `$TTL 3600\n${text}`);
    return internet(root).serve(COM_A, com).serve(COM_B, com);
  };

  it.each([
    ['keeps a cut for its TTL', 7200, 600, 'a.com', 'com.', 7200],
    ['keeps a cut for at most a day', 604_800, 600, 'a.com', 'com.', 86_400],
    ['keeps the absence of a cut for the TTL of the SOA', 604_800, 600, 'x.ent.com', 'ent.com.', 600],
    ['keeps the absence of a cut for at most an hour', 604_800, 86_400, 'x.ent.com', 'ent.com.', 3600],
  ])('%s', async (_, ttl, minimum, domain, forgotten, seconds) => {
    const exchange = world(ttl, minimum);
    const { observe, clock } = testResolver(exchange);
    const start = clock.now;
    await observe(domain);
    do {
      exchange.takeAsked();
      clock.now += 300_000;
      await observe(domain);
    } while (!exchange.asked.some((text) => text.endsWith(` ${forgotten} NS`)));
    expect((clock.now - start) / 1000).toBe(seconds);
  });

  it('keeps nothing with a TTL of 0, and the check still works', async () => {
    const { observe } = testResolver(world(0));
    for (let i = 0; i < 3; i++) {
      const evidence = await observe('x.ent.com');
      expect(outcomesOf(evidence)).toEqual(Array(2).fill('referral ns.host.net.'));
      expect(walked(evidence)).toBe('(.) com.');
    }
    expect((await observe('x.ent.com')).queries).toBe(3); // com, and the domain twice
  });

  it('is limited in size', async () => {
    const exchange = comInternet('');
    const { observe } = testResolver(exchange, { cacheEntries: 10 });
    for (let i = 0; i < 100; i++) await observe(`x.y${i}.com`);
    exchange.takeAsked();
    expect((await observe('x.y99.com')).queries).toBe(2);
    expect((await observe('x.y1.com')).queries).toBe(3);
  });
});

describe('the limits of a check', () => {
  it('hold for packets', async () => {
    // Each name below exists without a cut: the longest names need more queries than a check has.
    const [soa] = zone('.', '@ NS a.').nodes.get(name('.'))?.sets.values() ?? [];
    const endless = behaveRoot(internet(''), () =>
      reply({ aa: true, authorities: recordsIn(soa === undefined ? [] : [soa]) }),
    );
    const long = await testResolver(endless).observe(Array.from({ length: 100 }, () => 'a').join('.'));
    expect(failure(long)).toBe('limit at .');
    expect(long).toMatchObject({ queries: 60, parent: undefined });
    expect(endless.packets).toBe(60);
    expect(long.failure?.message).toBe('more than 60 packets would be needed');
  });

  it('also hold for retried packets', async () => {
    const exchange = comInternet(delegatedMany(1));
    for (const address of [COM_A, COM_B]) exchange.behave(address, () => 'silent');
    const evidence = await testResolver(exchange, { limits: { packets: 3 } }).observe('shop0.com');
    expect(evidence).toMatchObject({ queries: 3, parent: name('com'), failure: undefined });
    expect(outcomesOf(evidence)).toEqual(['timeout', 'timeout']);
    expect(exchange.packets).toBe(3);
  });

  it('hold for delegations', async () => {
    // Every server serves a zone below the queried one.
    const refer: Conduct = ({ name: asked }) => {
      const ns = {
        owner: name(asked),
        type: 2,
        ttl: 60,
        rdata: [Buffer.from(name(`ns.${asked}`), 'latin1')],
      };
      const a = { owner: name(`ns.${asked}`), type: 1, ttl: 60, rdata: [Uint8Array.of(6, 6, 6, 6)] };
      return reply({ authorities: recordsIn([ns]), additionals: recordsIn([a]) });
    };
    const exchange = behaveRoot(internet('').behave('6.6.6.6', refer), refer);
    const deep = Array.from({ length: 30 }, (_, i) => `l${i}`).join('.');
    const evidence = await testResolver(exchange).observe(deep);
    const message = 'more than 20 delegations would have to be queried';
    expect(evidence.failure).toMatchObject({ reason: 'limit', message });
    expect([evidence.queries, evidence.walk.length]).toEqual([21, 21]);
    expect(evidence.walk.at(-1)?.zone).toBe(evidence.failure?.zone);
  });

  it('hold for time, in the middle of a query', async () => {
    const exchange = behaveRoot(comInternet(delegatedMany(1)), () => 'hangs');
    const { observe } = testResolver(exchange, { limits: { milliseconds: 30 } });
    const failed = { reason: 'limit', zone: name('.'), message: 'not done within 0.03 s' };
    expect(await observe('shop0.com')).toMatchObject({ failure: failed });
  });

  it('hold for time at the parent, and earlier results count', async () => {
    const exchange = comInternet(delegatedMany(1)).behave(COM_A, ({ name: asked }) =>
      asked === 'com.' ? undefined : 'hangs',
    );
    const { observe } = testResolver(exchange, { limits: { milliseconds: 30 } });
    const evidence = await observe('shop0.com');
    expect(outcomesOf(evidence)).toEqual(['referral ns0.host.net.', 'timeout']);
    expect(evidence).toMatchObject({ failure: undefined, parentAddresses: 2, parent: name('com') });
    expect(evidence.servers.map(({ error }) => error).sort()).toEqual(['not done within 0.03 s', undefined]);
  });

  it('make servers that exceed them unreachable', async () => {
    let asked = 0;
    const exchange = behaveRoot(comInternet(''), () => (asked++ === 0 ? 'silent' : 'hangs'));
    const { observe, clock } = testResolver(exchange, { limits: { milliseconds: 30 } });
    expect(failure(await observe('shop0.com'))).toBe('unreachable at .');
    expect((await observe('shop0.com')).queries).toBe(0); // cached
    clock.now += 2000;
    expect((await observe('shop0.com')).queries).toBeGreaterThan(0);
  });
});

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

  it('takes a token for the address before each query', async () => {
    const { observe, taken } = testResolver(comInternet(delegatedMany(1)));
    await observe('shop0.com');
    expect(taken).toHaveLength(3);
  });

  it('ends its checks when it is closed', async () => {
    const exchange = comInternet(delegatedMany(1));
    const { observe, resolver } = testResolver(exchange);
    exchange.hold();
    const check = observe('shop0.com');
    const ended = expect(check).rejects.toThrow('cancelled');
    await resolver.close();
    await ended;
    expect(exchange.isClosed).toBe(true);
    await expect(observe('shop0.com')).rejects.toThrow('closed');
  });

  it('does not start for an aborted signal', async () => {
    const exchange = comInternet(delegatedMany(1));
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(testResolver(exchange).observe('shop0.com', { signal })).rejects.toThrow('too late');
    expect(exchange.asked).toEqual([]);
  });

  it('passes on its own errors', async () => {
    const exchange = internet(`com NS a.gtld.\na.gtld. A ${COM_A}`);
    await expect(testResolver(exchange).observe('shop0.com')).rejects.toThrow('no server has that address');
  });
});
