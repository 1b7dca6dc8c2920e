import { describe, expect, it } from 'vitest';
import type { FamilyEvidence, TargetEvidence } from '../../src/checks/aname/target-evidence.ts';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { findAllAddresses } from '../../src/resolver/aname/find-all-addresses.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { COM_A, internet, type TestResolver, testResolver } from '../support/world/test-resolver.ts';
import { name, type ZoneExchange, zone } from '../support/world/zone-exchange.ts';

const NONE: FamilyEvidence = { kind: 'none', ttl: 60 };
const FAILED: FamilyEvidence = { kind: 'failed', reason: 'unreachable', message: 'x' };
const found = (...addresses: string[]): FamilyEvidence => ({ kind: 'found', addresses, ttl: 60 });

const KNOWN: Record<string, { v4: FamilyEvidence; v6: FamilyEvidence }> = {
  'a.': { v4: found('192.0.2.1'), v6: found('2001:db8::1') },
  'b.': { v4: found('192.0.2.2', '192.0.2.1'), v6: NONE },
  'none.': { v4: NONE, v6: NONE },
  'half.': { v4: found('192.0.2.3'), v6: FAILED },
};

const of = async (...names: string[]) => {
  const asked: string[] = [];
  const addresses = await findAllAddresses(
    names.map((name) => parseName(name)),
    async (name: Name) => {
      asked.push(printName(name));
      return KNOWN[printName(name)] as (typeof KNOWN)[string];
    },
  );
  return { addresses: addresses && [...addresses].sort(), asked: asked.sort() };
};

describe('the addresses of a list of names', () => {
  it('are those of all of them, with one lookup per name', async () => {
    expect(await of('a.', 'b.', 'a.')).toEqual({
      addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
      asked: ['a.', 'b.'],
    });
  });

  it.each(['none.', 'half.'])('are unknown if those of %s are', async (name) => {
    expect((await of('a.', name)).addresses).toBeUndefined();
  });

  it('are unknown without names, and not looked up if there are too many', async () => {
    expect((await of()).addresses).toBeUndefined();
    expect(await of(...Array.from({ length: 401 }, (_, i) => `n${i}.`))).toEqual({
      addresses: undefined,
      asked: [],
    });
  });
});

const NET = '192.5.6.40';
const SHOP = '5.5.5.5';
const CDN = '6.6.6.6';
const CDN2 = '6.6.6.7';

const CHAIN_OF_8 = ['www', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7', 'l8']
  .map((label) => `${label}.shop.com.`)
  .join(' ');

/** com has shop.com at one address, net has cdn.net at two. */
function world(shop: string, cdn: string): ZoneExchange {
  const cdnZone = zone('cdn.net.', `@ NS a\n@ NS b\na A ${CDN}\nb A ${CDN2}\n${cdn}`);
  return internet(`com NS a.gtld.\nnet NS n.gtld.\na.gtld. A ${COM_A}\nn.gtld. A ${NET}`)
    .serve(COM_A, zone('com.', `@ NS a.gtld.\nshop NS ns.shop\nns.shop A ${SHOP}`))
    .serve(NET, zone('net.', `@ NS n.gtld.\ncdn NS a.cdn\ncdn NS b.cdn\na.cdn A ${CDN}\nb.cdn A ${CDN2}`))
    .serve(SHOP, zone('shop.com.', `@ NS ns\nns A ${SHOP}\n${shop}`))
    .serve(CDN, cdnZone)
    .serve(CDN2, cdnZone);
}

const look = ({ resolver }: TestResolver, target = 'www.shop.com') => resolver.observeAddresses(name(target));

/** `1.1.1.1 for 300`, `none for 600`, `unreachable`. */
function said(family: FamilyEvidence): string {
  if (family.kind === 'failed') return family.reason;
  return `${family.kind === 'found' ? family.addresses.join(' ') : 'none'} for ${family.ttl}`;
}

function shown({ v4, v6, names }: TargetEvidence): string[] {
  return [said(v4), said(v6), names.map(printName).join(' ')];
}

/** The target | records of shop.com | of cdn.net | IPv4, IPv6 and the names in the chain. */
it.each(
  rowsOf(`
a name with both families | www 300 A 1.1.1.1 / www 60 AAAA 2600::1 | | 1.1.1.1 for 300 / 2600::1 for 60 / www.shop.com.
a name with one family | www 300 A 1.1.1.1 | | 1.1.1.1 for 300 / none for 600 / www.shop.com.
a set, returned in canonical order | www A 9.0.0.1 / www A 1.1.1.1 / www A 10.0.0.1 | | 1.1.1.1 9.0.0.1 10.0.0.1 for 3600 / none for 600 / www.shop.com.
a name that does not exist | x A 1.1.1.1 | | none for 600 / none for 600 / www.shop.com.
a wildcard | * 90 A 1.1.1.1 | | 1.1.1.1 for 90 / none for 600 / www.shop.com.
an alias of another zone, with the lowest TTL on the way | www 120 CNAME x.cdn.net. | x 300 A 1.1.1.1 / x 30 AAAA 2600::1 | 1.1.1.1 for 120 / 2600::1 for 30 / www.shop.com. x.cdn.net.
an alias of a missing name | www 120 CNAME y.cdn.net. | x A 1.1.1.1 | none for 120 / none for 120 / www.shop.com. y.cdn.net.
a name below a DNAME | www CNAME a.d / d DNAME cdn.net. | a 50 AAAA 2600::1 | 6.6.6.6 for 3600 / 2600::1 for 50 / www.shop.com. a.d.shop.com. a.cdn.net.
an alias of itself | www CNAME x.cdn.net. | x CNAME www.shop.com. | loop / loop / www.shop.com. x.cdn.net.
the end of eight aliases | ${aliases(8)} | | 1.1.1.1 for 3600 / none for 600 / ${CHAIN_OF_8}
the end of nine aliases | ${aliases(9)} | | limit / limit / ${CHAIN_OF_8}`),
)('looks up %s', async (_, shop, cdn, expected) => {
  const exchange = world(itemsOf(shop).join('\n'), itemsOf(cdn).join('\n'));
  expect(shown(await look(testResolver(exchange)))).toEqual(itemsOf(expected));
});

/** `www` is an alias of `l1`, which is an alias of `l2` …, and the last one has an address. */
function aliases(count: number): string {
  const links = Array.from({ length: count }, (_, i) => `${i === 0 ? 'www' : `l${i}`} CNAME l${i + 1}`);
  return [...links, `l${count} A 1.1.1.1`].join(' / ');
}

describe('the queries of a lookup', () => {
  it('are one per family with a warm cache', async () => {
    const test = testResolver(world('www 300 A 1.1.1.1', ''));
    expect((await look(test)).queries).toBe(4);
    test.clock.now += 60_000;
    expect((await look(test)).queries).toBe(2);
  });

  it('are one in total for a nonexistent name', async () => {
    const exchange = world('x A 1.1.1.1', '');
    await look(testResolver(exchange));
    expect(exchange.asked.filter((text) => text.startsWith(SHOP))).toEqual([`${SHOP} www.shop.com. A`]);
  });

  it('go to another server if one does not respond', async () => {
    const exchange = world('', 'x A 1.1.1.1').behave(CDN, () => 'silent');
    expect(said((await look(testResolver(exchange), 'x.cdn.net')).v4)).toBe('1.1.1.1 for 3600');
  });
});

describe('a target whose servers do not respond', () => {
  it('is found with the next lookup a minute later, however long they were down', async () => {
    let isDead = true;
    const behaves = () => (isDead ? ('silent' as const) : undefined);
    const exchange = world('www 300 A 1.1.1.1', '').behave(SHOP, behaves).behave(COM_A, behaves);
    const test = testResolver(exchange);
    for (let i = 0; i < 20; i++, test.clock.now += 60_000) {
      expect(shown(await look(test))).toEqual(['unreachable', 'unreachable', 'www.shop.com.']);
    }
    isDead = false;
    expect(said((await look(test)).v4)).toBe('1.1.1.1 for 300');
  });

  it('is found as soon if it was a nameserver without glue that was not found', async () => {
    let isDead = true;
    const exchange = world('www A 1.1.1.1', 'ns A 5.5.5.5')
      .serve(COM_A, zone('com.', '@ NS a.gtld.\nshop NS ns.cdn.net.'))
      .behave(CDN, () => (isDead ? 'silent' : undefined))
      .behave(CDN2, () => (isDead ? 'silent' : undefined));
    const test = testResolver(exchange);
    for (let i = 0; i < 10; i++, test.clock.now += 60_000) expect((await look(test)).v4.kind).toBe('failed');
    isDead = false;
    expect(said((await look(test)).v4)).toBe('1.1.1.1 for 3600');
  });

  it('is reported as a server failure if the server refuses', async () => {
    const exchange = world('', '').behave(SHOP, () => 'bad');
    expect(said((await look(testResolver(exchange))).v4)).toBe('lame');
  });
});

it('a lookup that is aborted rejects', async () => {
  const test = testResolver(world('www A 1.1.1.1', '').behave(SHOP, () => 'hangs'));
  const controller = new AbortController();
  const looking = test.resolver.observeAddresses(name('www.shop.com'), { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(looking).rejects.toThrow('enough');
  const other = test.resolver.observeAddresses(name('www.shop.com'));
  await test.resolver.close();
  await expect(other).rejects.toThrow('cancelled');
});
