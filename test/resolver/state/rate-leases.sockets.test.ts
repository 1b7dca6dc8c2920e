// How fast questions to one address may go, with clock and source of leases in the test's hands: nothing sleeps.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AddressRates, type LeaseSource } from '../../../src/resolver/state/rate-leases.ts';

const ADDRESS = '192.0.2.1';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const forever = new AbortController().signal;

/** Takes `count` tokens; `times` has the millisecond, from the start, at which each was given. */
function takeMany(
  rates: AddressRates,
  count: number,
  address = ADDRESS,
  signal = forever,
): { times: number[] } {
  const times: number[] = [];
  const startedAt = Date.now();
  for (let i = 0; i < count; i++) {
    rates.take(address, signal).then(
      () => times.push(Date.now() - startedAt),
      () => {},
    );
  }
  return { times };
}

/** A source that keeps its requests until the test answers them. */
class HeldSource implements LeaseSource {
  readonly requests: {
    address: string;
    wanted: number;
    grant(granted: number, retryAfterMs?: number): void;
    fail(): void;
  }[] = [];

  lease(address: string, wanted: number): Promise<{ granted: number; retryAfterMs: number }> {
    return new Promise((resolve, reject) => {
      this.requests.push({
        address,
        wanted,
        grant: (granted, retryAfterMs = 0) => resolve({ granted, retryAfterMs }),
        fail: () => reject(new Error('down')),
      });
    });
  }

  get last() {
    return this.requests.at(-1) as HeldSource['requests'][number];
  }
}

function leasing(perSecond = 50): { rates: AddressRates; source: HeldSource } {
  const source = new HeldSource();
  return { rates: new AddressRates(perSecond, source, Date.now), source };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('without a source', () => {
  it('a fifth of the rate goes at once, the rest evenly, in order', async () => {
    const rates = new AddressRates(50, undefined, Date.now);
    const { times } = takeMany(rates, 110);
    await settle();
    expect(times.length).toBe(10);
    await vi.advanceTimersByTimeAsync(2000);
    expect(times.length).toBe(110);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.filter((time) => time < 1000).length).toBeLessThanOrEqual(60);
    expect(times.at(-1)).toBeGreaterThan(1900);
  });

  it('no second after the first has more than the rate, whatever the rate', async () => {
    for (const perSecond of [1, 2, 7, 50, 333]) {
      const rates = new AddressRates(perSecond, undefined, Date.now);
      const { times } = takeMany(rates, perSecond * 5);
      await vi.advanceTimersByTimeAsync(6000);
      expect(times.length).toBe(perSecond * 5);
      for (let second = 1; second < 6; second++) {
        const count = times.filter((time) => time >= second * 1000 && time < (second + 1) * 1000).length;
        expect([perSecond, count]).toEqual([perSecond, Math.min(perSecond, count)]);
      }
      // as fast as it may: never slower by more than a tick a token
      expect(times.at(-1)).toBeLessThan(5100);
    }
  });

  it('addresses do not slow each other', async () => {
    const rates = new AddressRates(5, undefined, Date.now);
    const busy = takeMany(rates, 100);
    const other = takeMany(rates, 5, '192.0.2.2');
    await settle();
    expect([busy.times.length, other.times.length]).toEqual([5, 5]);
  });

  it('what was not used for long is not saved up', async () => {
    const rates = new AddressRates(50, undefined, Date.now);
    takeMany(rates, 1);
    await vi.advanceTimersByTimeAsync(3_600_000);
    const { times } = takeMany(rates, 100);
    await settle();
    expect(times.length).toBe(10);
  });

  it('a clock that is set back or forth holds nobody up', async () => {
    const rates = new AddressRates(50, undefined, Date.now);
    takeMany(rates, 10);
    vi.setSystemTime(Date.now() - 3_600_000);
    const after = takeMany(rates, 5);
    await vi.advanceTimersByTimeAsync(200);
    expect(after.times.length).toBe(5);
    vi.setSystemTime(Date.now() + 3_600_000);
    const later = takeMany(rates, 5);
    await vi.advanceTimersByTimeAsync(200);
    expect(later.times.length).toBe(5);
  });
});

describe('with a source', () => {
  it('a fifth of the rate is leased at a time, and only when nothing is left', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 1);
    expect(source.requests.map(({ address, wanted }) => [address, wanted])).toEqual([[ADDRESS, 10]]);
    source.last.grant(10);
    await settle();
    expect(times.length).toBe(1);
    const nine = takeMany(rates, 9);
    await settle();
    expect([nine.times.length, source.requests.length]).toEqual([9, 1]);
    takeMany(rates, 1);
    expect(source.requests.length).toBe(2);
  });

  it('at least five are leased, but never more than the rate', () => {
    for (const [perSecond, wanted] of [
      [10, 5],
      [25, 5],
      [26, 6],
      [3, 3],
      [1, 1],
    ] as const) {
      const { rates, source } = leasing(perSecond);
      takeMany(rates, 1);
      expect([perSecond, source.last.wanted]).toEqual([perSecond, wanted]);
    }
  });

  it('as many are leased as wait, up to the rate', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 1 + 35 + 100);
    source.last.grant(1);
    await settle();
    expect(source.last.wanted).toBe(50);
    source.last.grant(50);
    await settle();
    expect([times.length, source.last.wanted]).toEqual([51, 50]);
  });

  it('one request is under way for an address, and those who wait are served in order', async () => {
    const { rates, source } = leasing();
    const served: number[] = [];
    for (let i = 0; i < 8; i++) void rates.take(ADDRESS, forever).then(() => served.push(i));
    expect(source.requests.length).toBe(1);
    takeMany(rates, 1, '192.0.2.2');
    expect(source.requests.map(({ address }) => address)).toEqual([ADDRESS, '192.0.2.2']);
    source.requests[0]?.grant(3);
    await settle();
    expect([served, source.requests.length]).toEqual([[0, 1, 2], 3]);
    source.last.grant(10);
    await settle();
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('nothing granted means asking again after the time that the source says', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 2);
    source.last.grant(0, 300);
    await vi.advanceTimersByTimeAsync(299);
    expect(source.requests.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(source.requests.length).toBe(2);
    source.last.grant(2);
    await settle();
    expect(times).toEqual([300, 300]);
  });

  it('a source that says nonsense neither spins nor stops the checks', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 1);
    source.last.grant(0, Number.NaN);
    await vi.advanceTimersByTimeAsync(4);
    expect(source.requests.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    source.last.grant(0, 1e12);
    await vi.advanceTimersByTimeAsync(5000);
    expect(source.requests.length).toBe(3);
    source.last.grant(1000);
    await settle();
    expect(times.length).toBe(1);
    const more = takeMany(rates, 10);
    await settle();
    expect(more.times.length).toBe(9); // ten were wanted, so ten are taken
    source.last.grant(Number.NaN);
    await settle();
    expect(more.times.length).toBe(10); // as after a failure
  });

  it('leased tokens that nobody used for ten seconds are given up', async () => {
    const { rates, source } = leasing();
    takeMany(rates, 1);
    source.last.grant(10);
    await vi.advanceTimersByTimeAsync(9_999);
    const { times } = takeMany(rates, 1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(times.length).toBe(1);
    takeMany(rates, 1);
    expect(source.requests.length).toBe(2);
  });
});

describe('a source that fails', () => {
  it('is replaced by a quarter of the rate, and asked again after five seconds', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 200);
    source.last.fail();
    await vi.advanceTimersByTimeAsync(4000);
    expect(source.requests.length).toBe(1);
    expect(times.length).toBeGreaterThanOrEqual(0.25 * 50 * 4 - 1);
    expect(times.length).toBeLessThanOrEqual(0.25 * 50 * 4 + 3);
    await vi.advanceTimersByTimeAsync(1100);
    expect(source.requests.length).toBe(2);
    const before = times.length;
    source.last.grant(50);
    await settle();
    expect(times.length).toBe(before + 50);
  });

  it('holds up no other address in the meantime', async () => {
    const { rates, source } = leasing();
    takeMany(rates, 1);
    source.last.fail();
    await settle();
    const other = takeMany(rates, 2, '192.0.2.2');
    await settle();
    expect([other.times.length, source.requests.length]).toEqual([2, 1]);
  });

  it('by saying nothing is given up after a second, and what it says later is not taken', async () => {
    const { rates, source } = leasing();
    const { times } = takeMany(rates, 2);
    await vi.advanceTimersByTimeAsync(999);
    expect(times.length).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(times.length).toBe(2);
    source.last.grant(10);
    await settle();
    const { times: later } = takeMany(rates, 10);
    await settle();
    expect(later.length).toBeLessThan(2);
  });

  it('by throwing has failed too', async () => {
    const broken: LeaseSource = {
      lease() {
        throw new Error('broken');
      },
    };
    const { times } = takeMany(new AddressRates(50, broken, Date.now), 1);
    await settle();
    expect(times).toEqual([0]);
  });

  it('always lets even the slowest rate go on', async () => {
    const source: LeaseSource = { lease: () => Promise.reject(new Error('down')) };
    const { times } = takeMany(new AddressRates(1, source, Date.now), 10);
    await vi.advanceTimersByTimeAsync(40_000);
    expect(times.length).toBeGreaterThanOrEqual(9);
  });
});

describe('a signal', () => {
  it('that aborts ends the wait with its reason, and the next in line goes on', async () => {
    const { rates, source } = leasing();
    const controller = new AbortController();
    const reason = new Error('enough');
    const aborted = rates.take(ADDRESS, controller.signal);
    const next = takeMany(rates, 1);
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    source.last.grant(1);
    await settle();
    expect(next.times.length).toBe(1);
  });

  it('that is aborted already takes nothing', async () => {
    const rates = new AddressRates(5, undefined, Date.now);
    const reason = new Error('enough');
    for (let i = 0; i < 20; i++)
      await expect(rates.take(ADDRESS, AbortSignal.abort(reason))).rejects.toBe(reason);
    const { times } = takeMany(rates, 5);
    await settle();
    expect(times.length).toBe(5);
  });

  it('leaves no timer behind with the last that waited', async () => {
    const { rates, source } = leasing();
    const controller = new AbortController();
    takeMany(rates, 3, ADDRESS, controller.signal);
    source.last.grant(0, 3000);
    await settle();
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    await settle();
    expect(vi.getTimerCount()).toBe(0);
    const { times } = takeMany(rates, 1);
    source.last.grant(1);
    await settle();
    expect([times.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('memory', () => {
  it('keeps addresses of the last seconds only', async () => {
    const rates = new AddressRates(50, undefined, Date.now);
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 1000; i++) await rates.take(`address ${round} ${i}`, forever);
      await vi.advanceTimersByTimeAsync(5000);
    }
    expect(rates.size).toBeLessThanOrEqual(5000);
    expect(rates.size).toBeGreaterThanOrEqual(2000);
  });

  it('never forgets an address that somebody waits for', async () => {
    let isOpen = false;
    const source: LeaseSource = {
      lease: async (address) => ({ granted: address !== ADDRESS || isOpen ? 1 : 0, retryAfterMs: 5000 }),
    };
    const rates = new AddressRates(50, source, Date.now);
    const { times } = takeMany(rates, 1);
    for (let i = 0; i < 6; i++) {
      await vi.advanceTimersByTimeAsync(4000);
      takeMany(rates, 1, `other ${i}`);
    }
    expect([times.length, rates.size < 6]).toEqual([0, true]);
    isOpen = true;
    await vi.advanceTimersByTimeAsync(5000);
    expect(times.length).toBe(1);
  });
});
