import { describe, expect, it } from 'vitest';
import {
  type Look,
  nextVerification,
  type VerificationState,
} from '../../../src/checks/txt/next-verification.ts';
import type { TxtVerdict } from '../../../src/checks/txt/txt-judgement.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const MAX = 28 * DAY;
const BEGUN = 1_700_000_000_000;

const state = (more: Partial<VerificationState> = {}): VerificationState => ({
  startedAt: BEGUN,
  expiresAt: BEGUN + 14 * DAY,
  attempts: 0,
  ...more,
});
/** Without jitter. */
const next = (from: VerificationState, look: Look, at: number, random = 0.5) =>
  nextVerification(from, look, at, MAX, random);
const scheduled = (verdict: TxtVerdict): Look => ({ kind: 'scheduled', verdict });

describe('the status after a look for the TXT record', () => {
  // biome-ignore format: a table
  const rows: [string, Look, number, string][] = [
    ['found',                              scheduled('verified'), 1 * DAY,  'active'],
    ['found after the time is over',       scheduled('verified'), 40 * DAY, 'active'],
    ['absent',                             scheduled('absent'),   27 * DAY, 'unverified'],
    ['absent when the time is over',       scheduled('absent'),   28 * DAY, 'disabled'],
    ['other when the time is over',        scheduled('other'),    28 * DAY, 'disabled'],
    ['partial when the time is over',      scheduled('partial'),  28 * DAY, 'disabled'],
    ['a wildcard when the time is over',   scheduled('wildcard'), 28 * DAY, 'disabled'],
    ['unknown when the time is over',      scheduled('unknown'),  40 * DAY, 'unverified'],
    ['expired before the time is over',    { kind: 'expired' },   27 * DAY, 'unverified'],
    ['expired when the time is over',      { kind: 'expired' },   28 * DAY, 'disabled'],
  ];
  it.each(rows)('%s', (_, look, afterMs, to) => {
    const from = state({ expiresAt: BEGUN + (look.kind === 'expired' ? 14 : 60) * DAY });
    const decision = next(from, look, BEGUN + afterMs);
    expect(decision.to).toBe(to);
    expect(decision.nextAt === undefined).toBe(to !== 'unverified');
  });
});

describe('the next look', () => {
  it('comes 1, 2, 5, 10, 30 minutes after the one before, then every hour', () => {
    let from = state();
    let at = BEGUN + MINUTE; // the first
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      const { attempts, nextAt } = next(from, scheduled(i % 2 ? 'absent' : 'unknown'), at);
      waits.push(((nextAt as number) - at) / MINUTE);
      from = state({ attempts });
      at = nextAt as number;
    }
    expect(waits).toEqual([2, 5, 10, 30, 60, 60]);
  });

  it('starts again after a request', () => {
    const late = state({ attempts: 40 });
    expect(next(late, { kind: 'asked', verdict: 'absent' }, BEGUN)).toEqual({
      to: 'unverified',
      attempts: 0,
      nextAt: BEGUN + MINUTE,
    });
  });

  it('varies by a fifth', () => {
    const wait = (random: number) =>
      ((next(state({ attempts: 9 }), scheduled('absent'), BEGUN, random).nextAt as number) - BEGUN) / MINUTE;
    expect([wait(0), wait(0.5), wait(0.999_999_999)]).toEqual([48, 60, expect.closeTo(72, 3)]);
  });

  it('never comes once the value has expired: only UNVERIFIED_MAX is left', () => {
    const at = BEGUN + 14 * DAY - 30 * MINUTE;
    const end = BEGUN + MAX;
    expect(next(state({ attempts: 9 }), scheduled('absent'), at).nextAt).toBe(end);
    expect(next(state(), { kind: 'expired' }, at + DAY).nextAt).toBe(end);
    const renewed = state({ expiresAt: end + DAY, attempts: 9 });
    expect(next(renewed, scheduled('unknown'), end + DAY - MINUTE).nextAt).toBe(end + DAY);
  });
});
