import { describe, expect, it } from 'vitest';
import { secondsBetween, timeFault } from '../../../src/dns/dnssec/signature-time.ts';
import type { Signature } from '../../../src/dns/dnssec/signed-octets.ts';

const HALF = 2 ** 31;
const fault = (inception: number, expiration: number, at: number, skew = 0) =>
  timeFault({ inception, expiration } as Signature, at, () => skew);

describe('the time of a signature', () => {
  it('is counted in serial number arithmetic (RFC 4034 §3.1.5)', () => {
    expect(secondsBetween(2 ** 32 - 5, 5)).toBe(10);
    expect(secondsBetween(5, 2 ** 32 - 5)).toBe(-10);
    expect(secondsBetween(0, HALF - 1)).toBe(HALF - 1);
  });

  it('takes in both its ends', () => {
    expect([fault(10, 20, 10), fault(10, 20, 20)]).toEqual([undefined, undefined]);
    expect(fault(10, 20, 9)).toBe('a signature is not valid yet');
    expect(fault(10, 20, 21)).toBe('a signature has expired');
    expect(fault(20, 10, 15)).toBe('a signature ends before it begins');
  });

  it('forgives a clock that is wrong by the seconds that its life allows', () => {
    const lives: number[] = [];
    const skewOf = (life: number) => {
      lives.push(life);
      return 5;
    };
    const at = (seconds: number) =>
      timeFault({ inception: 100, expiration: 200 } as Signature, seconds, skewOf);
    expect([at(95), at(205)]).toEqual([undefined, undefined]);
    expect([at(94), at(206)]).not.toContain(undefined);
    expect(new Set(lives)).toEqual(new Set([100]));
  });
});
