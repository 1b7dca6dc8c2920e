import { describe, expect, it } from 'vitest';
import {
  nextPreparation,
  type PreparationState,
  TXT_COUNTS_MS,
} from '../../../src/checks/txt/next-preparation.ts';
import type { Look } from '../../../src/checks/txt/next-verification.ts';
import type { TxtVerdict } from '../../../src/checks/txt/txt-judgement.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

const state = (more: Partial<PreparationState> = {}): PreparationState => ({
  expiresAt: NOW + 14 * DAY,
  attempts: 0,
  foundAt: undefined,
  ...more,
});
/** Without jitter. */
const next = (from: PreparationState, look: Look, random = 0.5) => nextPreparation(from, look, NOW, random);
const scheduled = (verdict: TxtVerdict): Look => ({ kind: 'scheduled', verdict });
const EXPIRED: Look = { kind: 'expired' };

describe('what a look finds', () => {
  // biome-ignore format: a table
  const rows: [string, number | undefined, Look, number | undefined, 'found' | 'lapsed' | undefined][] = [
    ['found for the first time',             undefined,            scheduled('verified'), NOW,           'found'],
    ['found again',                          NOW - DAY,            scheduled('verified'), NOW,           undefined],
    ['found again after it lapsed',          NOW - TXT_COUNTS_MS,  scheduled('verified'), NOW,           'found'],
    ['gone, it counts on',                   NOW - DAY,            scheduled('absent'),   NOW - DAY,     undefined],
    ['unknown, it counts on',                NOW - DAY,            scheduled('unknown'),  NOW - DAY,     undefined],
    ['gone for fourteen days',               NOW - TXT_COUNTS_MS,  scheduled('absent'),   undefined,     'lapsed'],
    ['its value expired, it counts on',      NOW - DAY,            EXPIRED,               NOW - DAY,     undefined],
    ['its value expired, fourteen days ago', NOW - TXT_COUNTS_MS,  EXPIRED,               undefined,     'lapsed'],
    ['at some servers',                      undefined,            scheduled('partial'),  undefined,     undefined],
    ['a wildcard',                           undefined,            scheduled('wildcard'), undefined,     undefined],
    ['at our own servers',                   undefined,            scheduled('untrusted'), undefined,    undefined],
  ];
  it.each(rows)('%s', (_, foundAt, look, after, turns) => {
    const { foundAt: is, turns: does } = next(state({ foundAt }), look);
    expect([is, does]).toEqual([after, turns]);
  });
});

describe('the next look', () => {
  it('comes ever more rarely while nobody publishes the record: at most some seventy times in all', () => {
    const pauses: number[] = [];
    let at = NOW;
    let from = state();
    for (;;) {
      const { nextAt, attempts } = nextPreparation(from, scheduled('absent'), at, 0.5);
      if (nextAt === undefined) break;
      pauses.push((nextAt - at) / MINUTE);
      from = { ...from, attempts };
      at = nextAt;
    }
    expect(pauses.slice(0, 9)).toEqual([2, 5, 10, 30, 60, 120, 240, 360, 360]);
    expect(pauses.length).toBeLessThan(70);
    expect(at).toBeLessThan(NOW + 14 * DAY);
  });

  it('begins anew when the owner asks, who has probably just published it', () => {
    const asked = next(state({ attempts: 7 }), { kind: 'asked', verdict: 'absent' });
    expect([asked.attempts, asked.nextAt]).toEqual([0, NOW + MINUTE]);
  });

  it('comes once a day while it is found, a fifth sooner or later', () => {
    const at = (random: number) => next(state(), scheduled('verified'), random).nextAt;
    expect([at(0), at(0.5), at(1)]).toEqual([NOW + 0.8 * DAY, NOW + DAY, NOW + 1.2 * DAY]);
  });

  it('is the moment at which the record lapses, when that is sooner or the value has expired', () => {
    const lapsing = state({ foundAt: NOW - TXT_COUNTS_MS + MINUTE, attempts: 9 });
    expect(next(lapsing, scheduled('absent')).nextAt).toBe(NOW + MINUTE);
    const expired = state({ foundAt: NOW - DAY, expiresAt: NOW });
    expect(next(expired, EXPIRED).nextAt).toBe(NOW - DAY + TXT_COUNTS_MS);
    expect(next(state({ expiresAt: NOW + MINUTE }), scheduled('verified')).nextAt).toBe(NOW + TXT_COUNTS_MS);
  });

  it('is none when the value has expired and was never found', () => {
    expect(next(state({ expiresAt: NOW }), EXPIRED).nextAt).toBeUndefined();
  });
});
