// Windows and filters of traffic queries.

import { describe, expect, it } from 'vitest';
import { trafficHours } from '../../src/analytics/requests/load-summary.ts';
import { readNarrowing } from '../../src/edge/analytics/narrowing.ts';
import {
  bucketsOf,
  hoursThatEndIn,
  PERIOD_NAMES,
  windowBefore,
  windowOf,
} from '../../src/edge/analytics/window.ts';

const read = (hostname?: string, path?: string) => readNarrowing('shop.test', { hostname, path });

describe('a host name', () => {
  it.each([
    ['shop.test', { kind: 'below', host: 'shop.test' }],
    ['WWW.Shop.Test.', { kind: 'below', host: 'www.shop.test' }],
    ['elsewhere.test', { kind: 'below', host: 'elsewhere.test' }],
    ['www', { kind: 'host', host: 'www.shop.test' }],
    ['ww', { kind: 'host', host: 'ww.shop.test' }],
    ['bücher', { kind: 'host', host: 'xn--bcher-kva.shop.test' }],
    ['%', { kind: 'host', host: '%.shop.test' }],
    ["x' or 1=1 --", { kind: 'host', host: "x' or 1=1 --.shop.test" }],
    ['a\\.b', { kind: 'below', host: 'a\\.b' }],
  ] as const)('%s', (text, host) => {
    expect(read(text)).toEqual({ host });
  });

  it('that is empty is ignored', () => {
    expect([read(), read('', '')]).toEqual([{}, {}]);
  });
});

describe('a path', () => {
  it('is a literal prefix of paths', () => {
    expect(read(undefined, '/a%20b/*')).toEqual({ path: '/a%20b/*' });
  });

  it.each(['shop', '*', '/a?b', '/a#b'])('%s is rejected', (path) => {
    expect(read(undefined, path)).toMatchObject({ problem: { field: 'path' } });
  });
});

const NOW = new Date('2026-03-01T10:20:30.400Z');
const told = ({ from, until }: { from: Date; until: Date }) => [from.toISOString(), until.toISOString()];
const hour = (text: string) => `2026-${text}:00:00.000Z`;

describe('a window', () => {
  it.each([
    ['3h', 'hour', '03-01T08', '03-01T11', 3, 10],
    ['24h', 'hour', '02-28T11', '03-01T11', 24, 10],
    ['7d', 'day', '02-23T00', '03-02T00', 7, 20],
    ['30d', 'day', '01-31T00', '03-02T00', 30, 45],
  ] as const)('of %s consists of whole buckets, the last one incomplete', (period, bucket, from, until, count, seconds) => {
    const window = windowOf(period, NOW);
    expect(told(window)).toEqual([hour(from), hour(until)]);
    expect([window.bucket, window.seconds]).toEqual([bucket, seconds]);
    const buckets = bucketsOf(window);
    expect([buckets.length, buckets[0]]).toEqual([count, window.from]);
    expect(buckets.at(-1)?.getTime()).toBeLessThanOrEqual(NOW.getTime());
  });

  it('of an unknown period is 24 hours', () => {
    for (const period of [undefined, '', '1h', '24H', '7', 'toString', '__proto__'])
      expect([period, windowOf(period, NOW)]).toEqual([period, windowOf('24h', NOW)]);
  });

  it('starts with a bucket exactly when the bucket starts', () => {
    const at = new Date(hour('03-01T10'));
    expect(told(windowOf('3h', at))).toEqual([hour('03-01T08'), hour('03-01T11')]);
    expect(told(windowOf('3h', new Date(at.getTime() - 1)))).toEqual([hour('03-01T07'), hour('03-01T10')]);
  });

  it('is compared with the previous one, up to the same hour', () => {
    expect(told(windowBefore(windowOf('24h', NOW), NOW))).toEqual([hour('02-27T11'), hour('02-28T11')]);
    expect(told(windowBefore(windowOf('7d', NOW), NOW))).toEqual([hour('02-16T00'), hour('02-22T11')]);
    for (const period of PERIOD_NAMES) {
      const window = windowOf(period, NOW);
      expect(windowBefore(window, NOW).until.getTime()).toBeLessThanOrEqual(window.from.getTime());
    }
  });
});

describe('the hours of a quota period', () => {
  it('are those that end in it, so that each belongs to one period', () => {
    const starts = ['01T10:20:30.401Z', '08T10:20:30.401Z', '15T10:20:30.401Z'].map(
      (at) => new Date(`2026-03-${at}`),
    );
    const [one, two] = [0, 1].map((i) => hoursThatEndIn(starts[i] as Date, starts[i + 1] as Date));
    expect(told(one as typeof two & object)).toEqual([hour('03-01T10'), hour('03-08T10')]);
    expect(two?.from).toEqual(one?.until);
  });

  it('are all hours of a period that begins with an hour', () => {
    const [from, until] = [new Date(hour('03-01T10')), new Date(hour('03-02T10'))];
    expect(hoursThatEndIn(from, until)).toEqual({ from, until });
  });

  it.each([
    0, 30,
  ])('include the current hour of a subscription that has just begun (reset after %s days)', (days) => {
    const startedAt = new Date('2026-03-01T10:20:30.401Z');
    const now = new Date('2026-03-01T10:21:00Z');
    const { from, until } = trafficHours({ startedAt, quotaResetDays: days }, now);
    expect(from.getTime()).toBeLessThanOrEqual(now.getTime());
    expect(until.getTime()).toBeGreaterThan(now.getTime());
  });
});
