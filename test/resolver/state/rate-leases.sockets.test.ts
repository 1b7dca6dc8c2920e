// The rate of queries to one address. The test controls the clock and the source of leases, and nothing sleeps.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AddressRates, type LeaseSource } from '../../../src/resolver/state/rate-leases.ts';

const ADDRESS = '192.0.2.1';
const FOREVER = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Takes `count` tokens. The result grows: the time of each token in milliseconds from the start. */
function takeMany(rates: AddressRates, count: number, address = ADDRESS, signal = FOREVER): number[] {
  const times: number[] = [];
  const startedAt = Date.now();
  const note = () => void times.push(Date.now() - startedAt);
  for (let i = 0; i < count; i++) rates.take(address, signal).then(note, () => {});
  return times;
}

/** A source that keeps its requests until the test answers them. */
class HeldSource implements LeaseSource {
  readonly requests: { address: string; wanted: number }[] = [];
  #settle: { resolve: (lease: { granted: number; retryAfterMs: number }) => void; reject: () => void }[] = [];

  lease(address: string, wanted: number): Promise<{ granted: number; retryAfterMs: number }> {
    this.requests.push({ address, wanted });
    return new Promise((resolve, reject) => {
      this.#settle.push({ resolve, reject: () => reject(new Error('down')) });
    });
  }

  get wanted(): number | undefined {
    return this.requests.at(-1)?.wanted;
  }

  /** Answers the last request, or another one. */
  async grant(granted: number, retryAfterMs = 0, at = -1): Promise<void> {
    this.#settle.at(at)?.resolve({ granted, retryAfterMs });
    await pass(0);
  }

  async fail(): Promise<void> {
    this.#settle.at(-1)?.reject();
    await pass(0);
  }
}

const plain = (perSecond = 50) => new AddressRates(perSecond, undefined, Date.now);

function leasing(perSecond = 50) {
  const source = new HeldSource();
  return { rates: new AddressRates(perSecond, source, Date.now), source };
}

describe('without a source', () => {
  it('a fifth of the rate is granted immediately, the rest evenly and in order', async () => {
    const times = takeMany(plain(), 110);
    await pass(0);
    expect(times.length).toBe(10);
    await pass(2000);
    expect(times.length).toBe(110);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.filter((time) => time < 1000).length).toBeLessThanOrEqual(60);
    expect(times.at(-1)).toBeGreaterThan(1900);
  });

  it.each([1, 2, 7, 50, 333])('no second after the first exceeds the rate of %i', async (perSecond) => {
    const times = takeMany(plain(perSecond), perSecond * 5);
    await pass(6000);
    expect(times.length).toBe(perSecond * 5);
    for (let second = 1; second < 6; second++) {
      const isInSecond = (time: number) => time >= second * 1000 && time < (second + 1) * 1000;
      expect(times.filter(isInSecond).length).toBeLessThanOrEqual(perSecond);
    }
    expect(times.at(-1)).toBeLessThan(5100); // not slower than the rate by more than a tick per token
  });

  it('addresses do not slow each other', async () => {
    const rates = plain(5);
    const all = [takeMany(rates, 100), takeMany(rates, 5, '192.0.2.2')];
    await pass(0);
    expect(all.map(({ length }) => length)).toEqual([5, 5]);
  });

  it('unused tokens are not saved', async () => {
    const rates = plain();
    takeMany(rates, 1);
    await pass(3_600_000);
    const times = takeMany(rates, 100);
    await pass(0);
    expect(times.length).toBe(10);
  });

  it('a clock that is set back or forward delays no query', async () => {
    const rates = plain();
    takeMany(rates, 10);
    for (const ms of [-3_600_000, 3_600_000]) {
      vi.setSystemTime(Date.now() + ms);
      const times = takeMany(rates, 5);
      await pass(200);
      expect(times.length).toBe(5);
    }
  });
});

describe('with a source', () => {
  it('a fifth of the rate is leased, and only when no token is left', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 1);
    expect(source.requests).toEqual([{ address: ADDRESS, wanted: 10 }]);
    await source.grant(10);
    expect(times.length).toBe(1);
    const nine = takeMany(rates, 9);
    await pass(0);
    expect([nine.length, source.requests.length]).toEqual([9, 1]);
    takeMany(rates, 1);
    expect(source.requests.length).toBe(2);
  });

  it.each([
    [10, 5],
    [25, 5],
    [26, 6],
    [3, 3],
    [1, 1],
  ])('with a rate of %i at least %i are leased', (perSecond, wanted) => {
    const { rates, source } = leasing(perSecond);
    takeMany(rates, 1);
    expect(source.wanted).toBe(wanted);
  });

  it('as many tokens are leased as queries wait, up to the rate', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 1 + 35 + 100);
    await source.grant(1);
    expect(source.wanted).toBe(50);
    await source.grant(50);
    expect([times.length, source.wanted]).toEqual([51, 50]);
  });

  it('one request is open per address, and waiting queries are served in order', async () => {
    const { rates, source } = leasing();
    const served: number[] = [];
    for (let i = 0; i < 8; i++) void rates.take(ADDRESS, FOREVER).then(() => served.push(i));
    takeMany(rates, 1, '192.0.2.2');
    expect(source.requests.map(({ address }) => address)).toEqual([ADDRESS, '192.0.2.2']);
    await source.grant(3, 0, 0);
    expect([served, source.requests.length]).toEqual([[0, 1, 2], 3]);
    await source.grant(10);
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('the source is asked again after the time that it returned with no grant', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 2);
    await source.grant(0, 300);
    await pass(299);
    expect(source.requests.length).toBe(1);
    await pass(1);
    expect(source.requests.length).toBe(2);
    await source.grant(2);
    expect(times).toEqual([300, 300]);
  });

  it('a source that returns nonsense neither spins nor stops the checks', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 1);
    await source.grant(0, Number.NaN);
    await pass(4);
    expect(source.requests.length).toBe(1);
    await pass(1);
    await source.grant(0, 1e12);
    await pass(5000);
    expect(source.requests.length).toBe(3);
    await source.grant(1000);
    expect(times.length).toBe(1);
    const more = takeMany(rates, 10);
    await pass(0);
    expect(more.length).toBe(9); // ten were requested, so ten are taken
    await source.grant(Number.NaN);
    expect(more.length).toBe(10); // as after a failure
  });

  it('leased tokens that were not used for ten seconds are released', async () => {
    const { rates, source } = leasing();
    takeMany(rates, 1);
    await source.grant(10);
    await pass(9_999);
    const times = takeMany(rates, 1);
    await pass(10_000);
    expect(times.length).toBe(1);
    takeMany(rates, 1);
    expect(source.requests.length).toBe(2);
  });
});

describe('a source that fails', () => {
  it('is replaced by a quarter of the rate, and asked again after five seconds', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 200);
    await source.fail();
    await pass(4000);
    expect(source.requests.length).toBe(1);
    expect(times.length).toBeGreaterThanOrEqual(0.25 * 50 * 4 - 1);
    expect(times.length).toBeLessThanOrEqual(0.25 * 50 * 4 + 3);
    await pass(1100);
    expect(source.requests.length).toBe(2);
    const before = times.length;
    await source.grant(50);
    expect(times.length).toBe(before + 50);
  });

  it('delays no other address in the meantime', async () => {
    const { rates, source } = leasing();
    takeMany(rates, 1);
    await source.fail();
    const other = takeMany(rates, 2, '192.0.2.2');
    await pass(0);
    expect([other.length, source.requests.length]).toEqual([2, 1]);
  });

  it('by not answering is abandoned after a second, and a late answer is ignored', async () => {
    const { rates, source } = leasing();
    const times = takeMany(rates, 2);
    await pass(999);
    expect(times.length).toBe(0);
    await pass(1);
    expect(times.length).toBe(2);
    await source.grant(10);
    const later = takeMany(rates, 10);
    await pass(0);
    expect(later.length).toBeLessThan(2);
  });

  it('by throwing, and with the slowest rate, delays queries only', async () => {
    const lease = () => {
      throw new Error('broken');
    };
    const broken = takeMany(new AddressRates(50, { lease }, Date.now), 1);
    await pass(0);
    expect(broken).toEqual([0]);
    const down: LeaseSource = { lease: () => Promise.reject(new Error('down')) };
    const slowest = takeMany(new AddressRates(1, down, Date.now), 10);
    await pass(40_000);
    expect(slowest.length).toBeGreaterThanOrEqual(9);
  });
});

describe('a signal', () => {
  it('that aborts ends the wait with its reason, and the next query continues', async () => {
    const { rates, source } = leasing();
    const controller = new AbortController();
    const reason = new Error('enough');
    const aborted = rates.take(ADDRESS, controller.signal);
    const next = takeMany(rates, 1);
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await source.grant(1);
    expect(next.length).toBe(1);
  });

  it('that is already aborted takes no token', async () => {
    const rates = plain(5);
    const reason = new Error('enough');
    for (let i = 0; i < 20; i++)
      await expect(rates.take(ADDRESS, AbortSignal.abort(reason))).rejects.toBe(reason);
    const times = takeMany(rates, 5);
    await pass(0);
    expect(times.length).toBe(5);
  });

  it('leaves no timer if it ends the last wait', async () => {
    const { rates, source } = leasing();
    const controller = new AbortController();
    takeMany(rates, 3, ADDRESS, controller.signal);
    await source.grant(0, 3000);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    await pass(0);
    expect(vi.getTimerCount()).toBe(0);
    const times = takeMany(rates, 1);
    await source.grant(1);
    expect([times.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('memory', () => {
  it('keeps only addresses of the last seconds', async () => {
    const rates = plain();
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 1000; i++) await rates.take(`address ${round} ${i}`, FOREVER);
      await pass(5000);
    }
    expect(rates.size).toBeLessThanOrEqual(5000);
    expect(rates.size).toBeGreaterThanOrEqual(2000);
  });

  it('keeps an address while a query waits for it', async () => {
    let isOpen = false;
    const source: LeaseSource = {
      lease: async (address) => ({ granted: address !== ADDRESS || isOpen ? 1 : 0, retryAfterMs: 5000 }),
    };
    const rates = new AddressRates(50, source, Date.now);
    const times = takeMany(rates, 1);
    for (let i = 0; i < 6; i++) {
      await pass(4000);
      takeMany(rates, 1, `other ${i}`);
    }
    expect([times.length, rates.size < 6]).toEqual([0, true]);
    isOpen = true;
    await pass(5000);
    expect(times.length).toBe(1);
  });
});
