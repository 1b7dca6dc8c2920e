import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AmplificationLimit } from '../../../src/nameserver/answer/amplification-limit.ts';
import { clientAt } from '../../support/answer/client-at.ts';

const RATE = 20_000;
const ANSWERED_PER_ASKED = 2.5;

const LARGE = { asked: 50, answered: 1200, truncated: 50 };

function decide(
  limit: AmplificationLimit,
  address: string,
  nowMs: number,
  octets: Partial<typeof LARGE> = {},
) {
  const { asked, answered, truncated } = { ...LARGE, ...octets };
  return limit.decide(clientAt(address), asked, answered, truncated, nowMs);
}

/** Returns how many of `count` large answers are sent. */
function sent(limit: AmplificationLimit, address: string, count: number, nowMs: number): number {
  return Array.from({ length: count }, () => decide(limit, address, nowMs)).filter((one) => one === 'send')
    .length;
}

/** Has nothing left for a large answer. */
function empty(limit: AmplificationLimit, address: string, nowMs: number): void {
  while (decide(limit, address, nowMs, { asked: 0, answered: 1200 }) === 'send');
  while (decide(limit, address, nowMs, { asked: 0, answered: 12 }) === 'send');
}

describe('a network', () => {
  test('gets the burst at once, and again when it has been quiet', () => {
    const limit = new AmplificationLimit(RATE);
    expect(limit.burstOctets).toBe(2 * RATE);
    const first = sent(limit, '192.0.2.1', 33, 0);
    expect(first).toBe(33); // (40,000 + 33 × 2.5 × 50) ÷ 1200
    expect(sent(limit, '192.0.2.1', 10, 0)).toBeLessThanOrEqual(4);
    expect(sent(limit, '192.0.2.1', 33, 2000)).toBe(33);
  });
  test('gets its rate of large answers when it asks little', () => {
    const limit = new AmplificationLimit(RATE);
    // 16 questions a second of 50 octets, answered by 1,200: 19,200 octets a second.
    for (let i = 0; i < 1600; i++) expect(decide(limit, '192.0.2.1', i * 62)).toBe('send');
  });
  test('gets, beyond its rate, silence and TC in turn between the large answers', () => {
    const limit = new AmplificationLimit(RATE);
    empty(limit, '192.0.2.1', 0);
    const decisions = [1, 2, 3, 4].map(() => decide(limit, '192.0.2.1', 0));
    expect(decisions.toSorted()).toEqual(['drop', 'drop', 'truncate', 'truncate']);
    expect(decisions[0]).not.toBe(decisions[1]);
    expect(decisions[1]).not.toBe(decisions[2]);
  });
  test('always gets answers of up to 2.5 times the question, whatever others asked in its name', () => {
    const limit = new AmplificationLimit(RATE);
    empty(limit, '192.0.2.1', 0);
    for (let i = 0; i < 10_000; i++) {
      decide(limit, '192.0.2.1', 0, { asked: 50, answered: 1232 });
      expect(decide(limit, '192.0.2.9', 0, { asked: 44, answered: 110 })).toBe('send');
    }
  });
  test('is never limited while its answers are 2.5 times its questions on the whole', () => {
    const limit = new AmplificationLimit(RATE);
    // 5,000 questions a second: four of five for an address, one for something larger.
    let limited = 0;
    for (let i = 0; i < 50_000; i++) {
      const answered = i % 5 === 0 ? 250 : 72;
      if (decide(limit, '192.0.2.1', i / 5, { asked: 44, answered }) !== 'send') limited++;
    }
    expect(limited).toBe(0);
  });
  test.each([
    ['an IPv4 /24', '192.0.2.1', '192.0.2.254', true],
    ['not two IPv4 /24', '192.0.2.1', '192.0.3.1', false],
    ['an IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2', true],
    ['not two IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:200::1', false],
    ['not an IPv4 and an IPv6 network', '32.1.13.1', '2001:db8::1', false],
  ])('is %s', (_, one, other, shared) => {
    const limit = new AmplificationLimit(RATE);
    empty(limit, one, 0);
    expect(decide(limit, other, 0)).toBe(shared ? 'drop' : 'send');
  });
  test('is one for all threads that have the table', () => {
    const limit = new AmplificationLimit(RATE, 1024);
    empty(limit, '192.0.2.1', 0);
    expect(decide(AmplificationLimit.on(limit.buffer), '192.0.2.1', 0)).not.toBe('send');
    expect(AmplificationLimit.on(limit.buffer).burstOctets).toBe(limit.burstOctets);
  });
  test('goes on when the clock is set back, and when its milliseconds pass 2^31 and 2^32', () => {
    for (const [before, after] of [
      [3_600_000, 0],
      [2 ** 31 - 250, 2 ** 31 - 250],
      [2 ** 32 - 250, 2 ** 32 - 250],
    ] as const) {
      const limit = new AmplificationLimit(RATE);
      empty(limit, '192.0.2.1', before);
      expect(decide(limit, '192.0.2.1', after)).not.toBe('send');
      expect(decide(limit, '192.0.2.1', after + 500)).toBe('send'); // 10,000 octets
    }
  });
});

test('no mix of questions gets a network more than 2.5 octets for each, its rate and its burst', () => {
  const question = fc.record({
    asked: fc.oneof(fc.integer({ min: 12, max: 80 }), fc.integer({ min: 12, max: 65_535 })),
    answered: fc.integer({ min: 12, max: 1232 }),
    truncated: fc.integer({ min: 12, max: 150 }),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })),
  });
  fc.assert(
    fc.property(fc.array(question, { maxLength: 2000 }), (questions) => {
      const limit = new AmplificationLimit(RATE, 16);
      let nowMs = 0;
      let asked = 0;
      let out = 0;
      for (const { waitMs, ...octets } of questions) {
        nowMs += waitMs;
        asked += octets.asked;
        const decision = decide(limit, '192.0.2.1', nowMs, octets);
        if (decision === 'send') out += octets.answered;
        if (decision === 'truncate') out += octets.truncated;
      }
      const most = ANSWERED_PER_ASKED * asked + (RATE * nowMs) / 1000 + limit.burstOctets;
      expect(out).toBeLessThanOrEqual(most + 1); // tokens are numbers of 32 bits
    }),
  );
});

describe('more networks than places', () => {
  const SETS = 64;
  /** The n-th network. */
  const networkOf = (n: number) => `10.${(n >> 8) & 255}.${n & 255}.1`;

  test('get together what the places get: to forge many empties no table', () => {
    const limit = new AmplificationLimit(RATE, SETS);
    let octets = 0;
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 20_000; n++) {
        if (decide(limit, networkOf(n), 0, { asked: 40 }) === 'send') octets += 1200;
      }
    }
    const most = SETS * 4 * limit.burstOctets + 20 * 20_000 * 40 * ANSWERED_PER_ASKED;
    expect(octets).toBeLessThanOrEqual(most);
  });
  test('take no tokens from a network that is quiet, and those that asked nothing large limit nobody', () => {
    const limit = new AmplificationLimit(RATE, SETS);
    for (let n = 0; n < 20_000; n++) decide(limit, networkOf(n), 0, { asked: 50, answered: 110 });
    expect(sent(limit, '192.0.2.1', 30, 0)).toBe(30);
  });
  test('are found in other places after each start', () => {
    // Which networks share a bucket with the first, of a table with a single set of four.
    const sharers = () => {
      const limit = new AmplificationLimit(RATE, 256);
      for (let n = 0; n < 400; n++) empty(limit, networkOf(n), 0);
      return Array.from({ length: 1000 }, (_, n) => decide(limit, `172.16.${n >> 2}.1`, 0)).join();
    };
    expect(sharers()).not.toBe(sharers());
  });
});

test('the rate is checked, and the smallest one lets the largest answer through', () => {
  expect(() => new AmplificationLimit(0)).toThrow(RangeError);
  expect(decide(new AmplificationLimit(1), '192.0.2.1', 0, { asked: 20, answered: 1232 })).toBe('send');
});
