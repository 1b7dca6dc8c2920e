import { describe, expect, it } from 'vitest';
import type { Scan } from '../../../src/checks/scan/scan.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { PublicResolvers } from '../../../src/resolver/state/public-resolvers.ts';
import { comInternet, testResolver } from '../../support/world/test-resolver.ts';
import { type Conduct, name, reply, ZoneExchange, zone } from '../../support/world/zone-exchange.ts';

const A = '5.5.5.5';
const B = '5.5.5.6';
const RESOLVERS = ['9.9.9.9', '8.8.8.8#5353'] as const;
const DELEGATED = `shop NS ns1.shop\nshop NS ns2.shop\nns1.shop A ${A}\nns2.shop A ${B}`;
const HELD = `@ NS ns1\n@ NS ns2\nns1 A ${A}\nns2 A ${B}\nwww A 5.6.7.1\nmail A 5.6.7.2\ndev NS ns.host.net.`;
const WORDS = ['www', 'mail', 'api', 'dev'];
const FOUND = [
  'shop.com. NS ns1.shop.com.',
  'shop.com. NS ns2.shop.com.',
  'dev.shop.com. NS ns.host.net.',
  'mail.shop.com. A 5.6.7.2',
  `ns1.shop.com. A ${A}`,
  `ns2.shop.com. A ${B}`,
  'www.shop.com. A 5.6.7.1',
];

function shop(): ZoneExchange {
  const own = zone('shop.com.', HELD);
  return comInternet(DELEGATED).serve(A, own).serve(B, own);
}

/** They know what the zones say; TTLs have run down to 40. `taken`: whose turn it was, by their limits. */
function resolvers(): { publicResolvers: PublicResolvers; exchange: ZoneExchange; taken: string[] } {
  const taken: string[] = [];
  const exchange = new ZoneExchange();
  const below = zone('dev.shop.com.', '@ NS ns.host.net.');
  for (const address of RESOLVERS) {
    exchange.serve(address, zone('shop.com.', HELD), below).behave(address, ({ honest }) => {
      const { rcode, answers } = honest();
      return reply({ ra: true, rcode, answers: answers.map((record) => ({ ...record, ttl: 40 })) });
    });
  }
  const rates = { take: async (address: string) => void taken.push(address) };
  return { publicResolvers: { exchange, addresses: RESOLVERS, rates }, exchange, taken };
}

function told({ records }: Scan): string[] {
  return records.map((each) => {
    return `${printName(each.name)} ${typeMnemonic(each.type)} ${printRdata(each.type, each.rdata)}`;
  });
}

const scan = (exchange: ZoneExchange, more: Parameters<typeof testResolver>[1] = {}, words = WORDS) =>
  testResolver(exchange, more).resolver.scanZone(name('shop.com'), { words });

describe('the servers of a zone that is scanned', () => {
  it('are all asked, and each within its limit', async () => {
    const exchange = shop();
    const { resolver, taken } = testResolver(exchange);
    const seen = await resolver.scanZone(name('shop.com'), { words: WORDS });
    expect(told(seen)).toEqual(FOUND);
    const atZone = exchange.asked.filter((line) => line.startsWith('5.5.5.'));
    expect(taken.filter((address) => address.startsWith('5.5.5.'))).toHaveLength(atZone.length);
    expect(new Set(taken)).toContain(A);
    expect(new Set(taken)).toContain(B);
  });

  it.each(['silent', 'bad'] as const)('are enough when one of them is %s', async (conduct) => {
    const exchange = shop().behave(A, () => conduct);
    const seen = await scan(exchange);
    expect(told(seen)).toEqual(FOUND);
    expect(seen).toMatchObject({ complete: true, shortfalls: [] });
    expect(exchange.asked.filter((line) => line.startsWith(`${A} `)).length).toBeLessThan(12);
  });

  it('are looked up when they come without an address', async () => {
    const own = zone('shop.com.', '@ NS ns1.host\n@ NS ns2.host\nwww A 5.6.7.1');
    const host = zone('host.com.', `@ NS ns1\nns1 A ${A}\nns2 A ${B}`);
    const exchange = comInternet(`shop NS ns1.host\nshop NS ns2.host\nhost NS ns1.host\nns1.host A ${A}`)
      .serve(A, own, host)
      .serve(B, own);
    const seen = await scan(exchange, {}, ['www']);
    expect(told(seen)).toContain('www.shop.com. A 5.6.7.1');
    const asked = (address: string) => exchange.asked.filter((line) => line.startsWith(`${address} `)).length;
    expect(asked(A)).toBeGreaterThan(10);
    expect(asked(B)).toBeGreaterThan(10);
  });

  it('are asked again after a moment of silence', async () => {
    const exchange = shop();
    let asked = 0;
    exchange.behave(A, () => (++asked > 10 && asked <= 26 ? 'silent' : undefined));
    const words = Array.from({ length: 400 }, (_, i) => `host-${i}-x`);
    const seen = await scan(exchange, {}, [...WORDS, ...words]);
    expect(told(seen)).toEqual(FOUND);
    expect(seen.complete).toBe(true);
    expect(asked).toBeGreaterThan(100);
  });

  it('leave a scan incomplete if none of them answers a query', async () => {
    const exchange = shop();
    const fail: Conduct = ({ name: owner }) =>
      owner === 'mail.shop.com.' ? reply({ rcode: RCODE.SERVFAIL }) : undefined;
    const seen = await scan(exchange.behave(A, fail).behave(B, fail));
    expect(seen).toMatchObject({ complete: false, shortfalls: ['1 questions had no answer'] });
    expect(told(seen)).toEqual(FOUND.filter((line) => !line.startsWith('mail.')));
  });
});

describe('public resolvers', () => {
  it('are not asked while the zone answers', async () => {
    const { publicResolvers, taken } = resolvers();
    await scan(shop(), { publicResolvers });
    expect(taken).toEqual([]);
  });

  it.each<[string, ReturnType<Conduct>]>([
    ['are silent', 'silent'],
    ['refuse', reply({ rcode: RCODE.REFUSED })],
  ])('replace servers that %s, in turn and with the remaining TTLs', async (_, conduct) => {
    const { publicResolvers, exchange: theirs, taken } = resolvers();
    const exchange = shop();
    for (const address of [A, B]) exchange.behave(address, () => conduct);
    const seen = await scan(exchange, { publicResolvers });
    expect(told(seen)).toEqual(FOUND);
    expect(new Set(seen.records.map(({ ttl }) => ttl))).toEqual(new Set([40]));
    expect(seen).toMatchObject({ complete: true, queries: exchange.packets + theirs.packets });
    expect(seen.shortfalls).toEqual([expect.stringContaining('all answers are from public resolvers')]);
    const [one, other] = RESOLVERS.map((address) => taken.filter((each) => each === address).length);
    expect(Math.abs((one as number) - (other as number))).toBeLessThan(2);
    expect(exchange.asked.filter((line) => line.startsWith('5.5.5.')).length).toBeLessThan(60);
  });

  it('stand in for a parent that cannot be asked', async () => {
    const { publicResolvers } = resolvers();
    const exchange = shop();
    for (const address of ['192.5.6.30', '192.33.14.30']) exchange.behave(address, () => 'silent');
    const seen = await scan(exchange, { publicResolvers });
    expect(told(seen)).toEqual(FOUND);
    expect(seen.failure).toBeUndefined();
  });
});
