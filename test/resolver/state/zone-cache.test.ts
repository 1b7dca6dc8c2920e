import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/dns/name.ts';
import { AddressCache } from '../../../src/resolver/state/address-cache.ts';
import { KnownZone, noteMiss } from '../../../src/resolver/state/known-zone.ts';
import { countFailures, failureMs, ZoneCache } from '../../../src/resolver/state/zone-cache.ts';
import { name } from '../../support/world/zone-exchange.ts';

function world() {
  const clock = { now: 0 };
  const cache = new ZoneCache(100, () => clock.now);
  const known = () =>
    new KnownZone(
      name('com'),
      { names: [name('a.gtld')], glue: [{ name: name('a.gtld'), address: '1.2.3.4' }] },
      { isAskable: () => true, namesPerZone: 16, addressesPerName: 8, now: clock.now },
    );
  return { clock, cache, known };
}

describe('a remembered failure', () => {
  it('holds for a second at first and for five minutes at most', () => {
    expect([1, 2, 3, 4, 9, 10, 100].map((count) => failureMs(count))).toEqual([
      1000, 2000, 4000, 8000, 256_000, 300_000, 300_000,
    ]);
  });

  it('is the first again after a while', () => {
    expect(countFailures(undefined, 0)).toBe(1);
    expect(countFailures({ count: 3, expiresAt: 1000 }, 601_000)).toBe(4);
    expect(countFailures({ count: 3, expiresAt: 1000 }, 601_001)).toBe(1);
  });

  it('counts on from the one before, and anew after a success', () => {
    const { cache, clock, known } = world();
    const failure = { zone: ROOT, reason: 'unreachable', message: '' } as const;
    const holdsFor = () => {
      const start = clock.now;
      cache.putFailure(name('com'), failure);
      while (cache.get(name('com')) !== undefined) clock.now += 500;
      return clock.now - start;
    };
    expect([holdsFor(), holdsFor(), holdsFor()]).toEqual([1000, 2000, 4000]);
    cache.putCut(known(), 1);
    clock.now += 1000;
    expect(holdsFor()).toBe(1000);
  });
});

describe('a remembered cut', () => {
  it('keeps what was known of its addresses when it is asked for again', () => {
    const { cache, clock, known } = world();
    const first = known();
    cache.putCut(first, 60);
    const [address] = first.addresses(clock.now, false);
    if (address === undefined) throw new Error('no address');
    noteMiss(address, clock.now);
    const again = known();
    cache.putCut(again, 60);
    expect(again.addresses(clock.now, false)[0]).toMatchObject({ misses: 1, shunnedUntil: 1000 });
  });
});

describe('remembered addresses', () => {
  it('that were looked up without IPv6 do not count with it', () => {
    const cache = new AddressCache(10, () => 0);
    cache.put(name('ns.net'), { kind: 'found', addresses: ['1.2.3.4'] }, 60, false);
    expect(cache.get(name('ns.net'), false)).toMatchObject({ until: 60_000 });
    expect(cache.get(name('ns.net'), true)).toBe(undefined);
  });

  it('last a day at most, that there are none an hour, a failure a second and longer each time', () => {
    const cache = new AddressCache(10, () => 0);
    const host = name('ns.net');
    const failed = { kind: 'failed', reason: 'unreachable', message: '' } as const;
    expect(cache.put(host, { kind: 'found', addresses: [] }, 1e6, true).until).toBe(86_400_000);
    expect(cache.put(host, { kind: 'none' }, 1e6, true).until).toBe(3_600_000);
    expect(cache.put(host, failed, 1e6, true).until).toBe(1000);
    expect(cache.put(host, failed, 1e6, true).until).toBe(2000);
  });
});
