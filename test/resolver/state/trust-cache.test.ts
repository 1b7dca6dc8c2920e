import { describe, expect, it } from 'vitest';
import { TrustCache } from '../../../src/resolver/state/trust-cache.ts';
import { name } from '../../support/world/zone-exchange.ts';

const [ROOT, COM, CO] = [name('.'), name('com'), name('co.com')];
const INSECURE = { kind: 'insecure' } as const;
const failure = { zone: COM, reason: 'bogus', message: 'wrong' } as const;

function made() {
  const clock = { now: 1_000_000 };
  return { clock, cache: new TrustCache(100, () => clock.now) };
}

describe('what is known of the security of zones', () => {
  it('holds below the zone above that it was found for', () => {
    const { cache, clock } = made();
    cache.put(CO, COM, INSECURE, clock.now + 1000);
    expect(cache.get(CO, COM)).toBe(INSECURE);
    expect(cache.get(CO, ROOT)).toBeUndefined();
  });

  it('ends when told, and after a day at the latest', () => {
    const { cache, clock } = made();
    cache.put(COM, ROOT, INSECURE, clock.now + 1000);
    cache.put(CO, COM, INSECURE, Number.POSITIVE_INFINITY);
    clock.now += 1000;
    expect(cache.get(COM, ROOT)).toBeUndefined();
    clock.now += 86_400_000 - 1001;
    expect(cache.get(CO, COM)).toBe(INSECURE);
    clock.now += 1;
    expect(cache.get(CO, COM)).toBeUndefined();
  });

  it('ends the sooner the fewer failures there were in a row, and for the root after a minute', () => {
    const { cache, clock } = made();
    for (const seconds of [1, 2, 4, 8]) {
      cache.putFailure(COM, ROOT, failure);
      clock.now += seconds * 1000 - 1;
      expect(cache.get(COM, ROOT)?.kind).toBe('failed');
      clock.now += 1;
      expect(cache.get(COM, ROOT)).toBeUndefined();
    }
    cache.putFailure(ROOT, undefined, failure);
    clock.now += 59_999;
    expect(cache.get(ROOT, undefined)?.kind).toBe('failed');
    clock.now += 1;
    expect([cache.get(ROOT, undefined), cache.hasRootFault()]).toEqual([undefined, true]);
    cache.put(ROOT, undefined, { kind: 'secure', keys: [] }, clock.now + 1);
    expect(cache.hasRootFault()).toBe(false);
  });
});
