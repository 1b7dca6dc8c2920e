import { describe, expect, test } from 'vitest';
import { RateLimit, ZONE_BUCKET } from '../../../src/nameserver/answer/response-rate-limit.ts';
import { clientAt } from '../../support/answer/client-at.ts';

/** The hash of a name. */
const NAME = 0x1234_5678;
const OTHER_NAME = -0x1234_5679;

function sent(
  limit: RateLimit,
  address: string,
  count: number,
  nowMs: number,
  name = NAME,
  type = 1,
): number {
  return Array.from({ length: count }, () => decide(limit, address, nowMs, name, type)).filter(
    (one) => one === 'send',
  ).length;
}

function decide(limit: RateLimit, address: string, nowMs: number, name = NAME, type = 1) {
  return limit.decide(clientAt(address), name, type, nowMs);
}

describe('a bucket', () => {
  test('holds one second of answers, and fills again with time', () => {
    const limit = new RateLimit(400);
    expect(sent(limit, '192.0.2.1', 1000, 0)).toBe(400);
    expect(sent(limit, '192.0.2.1', 1000, 500)).toBe(200);
    expect(sent(limit, '192.0.2.1', 1000, 60_000)).toBe(400);
  });
  test('lets the rate through when it is asked steadily', () => {
    const limit = new RateLimit(400);
    let through = 0;
    for (let ms = 0; ms < 10_000; ms++) through += sent(limit, '192.0.2.1', 1, ms);
    expect(through).toBeGreaterThanOrEqual(4000);
    expect(through).toBeLessThanOrEqual(4401);
  });
  test('is shared by the threads that have its table', () => {
    const limit = new RateLimit(400, 1024);
    const other = RateLimit.on(limit.buffer);
    expect(sent(limit, '192.0.2.1', 300, 0) + sent(other, '192.0.2.1', 1000, 0)).toBe(400);
  });
  test('beyond the rate drops and truncates in turn', () => {
    const limit = new RateLimit(1);
    const decisions = [1, 2, 3, 4, 5].map(() => decide(limit, '192.0.2.1', 0));
    expect(decisions).toEqual(['send', 'drop', 'truncate', 'drop', 'truncate']);
  });
});

describe('one bucket is shared by', () => {
  test.each([
    ['an IPv4 /24', '192.0.2.1', '192.0.2.254', true],
    ['not two IPv4 /24', '192.0.2.1', '192.0.3.1', false],
    ['an IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2', true],
    ['not two IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:200::1', false],
  ])('%s', (_, one, other, shared) => {
    const limit = new RateLimit(10);
    sent(limit, one, 10, 0);
    expect(sent(limit, other, 10, 0)).toBe(shared ? 0 : 10);
  });
  test('neither names nor types', () => {
    const limit = new RateLimit(10);
    sent(limit, '192.0.2.1', 10, 0);
    expect(sent(limit, '192.0.2.1', 10, 0, OTHER_NAME)).toBe(10);
    expect(sent(limit, '192.0.2.1', 10, 0, NAME, 28)).toBe(10);
    expect(sent(limit, '192.0.2.1', 10, 0, NAME, ZONE_BUCKET)).toBe(10);
  });
});

test('a flood from 200,000 networks finds no more room, and a busy bucket stays limited', () => {
  const limit = new RateLimit(10, 256);
  const before = process.memoryUsage().arrayBuffers;
  let through = 0;
  const address = new Uint8Array(4);
  const view = new DataView(address.buffer);
  for (let i = 0; i < 200_000; i++) {
    view.setUint32(0, i << 8);
    limit.decide(clientAt(address), NAME, 1, i / 200);
    if (i % 10 === 0 && decide(limit, '203.0.113.9', i / 200) === 'send') through++;
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
  // One second passed: two seconds of answers at the most.
  expect(through).toBeLessThanOrEqual(21);
});

test('many names of one network seldom share a bucket', () => {
  const limit = new RateLimit(1);
  let limited = 0;
  for (let i = 0; i < 20_000; i++) {
    limited += 1 - sent(limit, '192.0.2.1', 1, 0, Math.imul(i, 0x9e3779b1));
  }
  expect(limited).toBeLessThan(5);
});

test('the rate and the size of the table are checked', () => {
  expect(() => new RateLimit(0)).toThrow(RangeError);
  expect(() => new RateLimit(Number.NaN)).toThrow(RangeError);
  expect(() => new RateLimit(400, 1000)).toThrow(RangeError);
});
