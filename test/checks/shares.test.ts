import { describe, expect, it } from 'vitest';
import { planAsked } from '../../src/checks/shares/asked.ts';
import { MANUAL_WAIT_MS, observersDeadlineMs } from '../../src/checks/shares/deadlines.ts';
import { type AddressMemory, afterTrial, judgeTrial, rememberedMs } from '../../src/checks/shares/silence.ts';
import { Slots } from '../../src/checks/shares/slots.ts';
import { dueTurn, manualTurn, scanTurn } from '../../src/checks/shares/turns.ts';
import { DEFAULT_LIMITS } from '../../src/resolver/state/limits.ts';

describe('a name that is queried', () => {
  const NOW = 1_700_000_000_000;
  const HALF_A_MINUTE = 30_000;
  const FIVE_MINUTES = 300_000;

  it('is checked immediately if it was not checked for five minutes', () => {
    const at = { at: NOW, isAgain: false };
    expect(planAsked({ checkedAt: undefined, again: 100 }, NOW)).toEqual(at);
    expect(planAsked({ checkedAt: NOW - FIVE_MINUTES, again: 100 }, NOW)).toEqual(at);
  });

  it('is rechecked after half a minute, which counts for its account', () => {
    expect(planAsked({ checkedAt: NOW - 1000, again: 0 }, NOW)).toEqual({
      at: NOW - 1000 + HALF_A_MINUTE,
      isAgain: true,
    });
    expect(planAsked({ checkedAt: NOW - 31_000, again: 0 }, NOW)).toEqual({ at: NOW, isAgain: true });
  });

  it('waits for five minutes if its account has used its share', () => {
    expect(planAsked({ checkedAt: NOW - 1000, again: 6 }, NOW)).toEqual({
      at: NOW - 1000 + FIVE_MINUTES,
      isAgain: false,
    });
  });

  it('is checked within half a minute of any time if it is queried constantly', () => {
    let checkedAt: number | undefined;
    const checks: number[] = [];
    for (let now = NOW; now < NOW + 600_000; now += 250) {
      const { at } = planAsked({ checkedAt, again: 2 }, now);
      if (at > now) continue;
      checks.push(now);
      checkedAt = now;
    }
    expect(checks.length).toBe(20);
    for (const [i, at] of checks.slice(1).entries()) expect(at - (checks[i] as number)).toBe(HALF_A_MINUTE);
  });
});

describe('the time limit of observers', () => {
  it('ends before a waiting call gives up, regardless of the duration of the check itself', () => {
    for (let checkMs = 0; checkMs <= DEFAULT_LIMITS.milliseconds; checkMs += 250) {
      const observersMs = observersDeadlineMs(checkMs, { isAwaited: true });
      expect(observersMs).toBeGreaterThanOrEqual(5000);
      expect(MANUAL_WAIT_MS - (checkMs + observersMs)).toBeGreaterThanOrEqual(5000);
    }
  });

  it('is 30 seconds if no call waits', () => {
    expect([0, 15_000].map((ms) => observersDeadlineMs(ms, { isAwaited: false }))).toEqual([30_000, 30_000]);
  });

  it('is not longer if the clock was set back', () => {
    expect(observersDeadlineMs(-60_000, { isAwaited: true })).toBe(20_000);
  });
});

describe('silence', () => {
  const NOW = 1_800_000_000_000;
  const MINUTE = 60_000;
  const DAY = 86_400_000;
  const open = { windowAt: NOW, asked: 1, openUntil: undefined };
  const silent: AddressMemory = { repliedAt: undefined, silences: 30, ...open };

  /**
   * Sends a query every second. An unanswered one lasts 6 s. Returns the times of queries in milliseconds from the start.
   */
  function askEverySecond(forMs: number, repliesAt = Number.POSITIVE_INFINITY): number[] {
    let memory: AddressMemory | undefined;
    const sent: number[] = [];
    let open: number | undefined;
    for (let at = 0; at < forMs; at += 1000) {
      if (open !== undefined && (at - open >= 6000 || at >= repliesAt)) {
        memory = afterTrial(memory, at >= repliesAt, NOW + at);
        open = undefined;
      }
      const trial = judgeTrial(memory, NOW + at);
      if (trial.kind === 'proven') return sent;
      if (trial.kind !== 'go') continue;
      ({ memory } = trial);
      sent.push(at);
      open = at;
    }
    return sent;
  }

  describe('an address that never answers', () => {
    it('gets one query at a time and three per minute, and after ten timeouts one per ten minutes', () => {
      const sent = askEverySecond(DAY);
      expect(sent.slice(0, 4)).toEqual([0, 6000, 12_000, MINUTE]);
      for (const at of sent) {
        expect(sent.filter((other) => other >= at && other < at + MINUTE).length).toBeLessThanOrEqual(4);
      }
      const late = sent.filter((at) => at > 10 * MINUTE);
      for (const [i, at] of late.entries())
        if (i > 0) expect(at - (late[i - 1] as number)).toBeGreaterThanOrEqual(10 * MINUTE);
      expect(sent.length).toBeLessThanOrEqual(10 + 6 * 24 + 1);
    });

    it('gets the next query after the time limit of one whose process never reports its end', () => {
      const first = judgeTrial(undefined, NOW);
      if (first.kind !== 'go') throw new Error(first.kind);
      expect(judgeTrial(first.memory, NOW + 11_999)).toEqual({ kind: 'wait', waitMs: 1 });
      expect(judgeTrial(first.memory, NOW + 12_000).kind).toBe('go');
    });
  });

  describe('an address that answers', () => {
    it('is proven for a day', () => {
      const proven = afterTrial(undefined, true, NOW);
      expect(judgeTrial(proven, NOW + DAY - 1)).toEqual({ kind: 'proven' });
      expect(judgeTrial(proven, NOW + DAY).kind).toBe('go');
    });

    it('is proven even after many timeouts', () => {
      expect(askEverySecond(3_600_000, 1_800_000).length).toBeLessThan(20);
      expect(judgeTrial(silent, NOW + MINUTE)).toEqual({ kind: 'wait', waitMs: 9 * MINUTE });
      expect(judgeTrial(afterTrial(silent, true, NOW), NOW)).toEqual({ kind: 'proven' });
      expect(afterTrial(silent, true, NOW).silences).toBe(0);
    });
  });

  it('if the clock goes back, the address may be queried', () => {
    expect(judgeTrial(silent, NOW - DAY).kind).toBe('go');
  });

  it('timeouts are remembered from the third on, for 5 minutes growing to an hour', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 99].map((count) => rememberedMs(count) / MINUTE)).toEqual([
      0, 0, 5, 10, 20, 40, 60, 60, 60,
    ]);
  });
});

it('a quarter of the slots is for slow checks, and further slow checks end', () => {
  const slots = new Slots(200);
  const taken = Array.from({ length: 60 }, () => slots.takeSlow());
  expect(taken.filter(Boolean)).toHaveLength(50);
  expect([slots.slow, slots.refused]).toEqual([50, 10]);
  slots.giveBack();
  expect(slots.takeSlow()).toBe(true);
  expect(slots.takeSlow()).toBe(false);
});

it('the smallest process has one slot for slow checks', () => {
  const slots = new Slots(1);
  expect([slots.takeSlow(), slots.takeSlow()]).toEqual([true, false]);
});

describe('the order of jobs', () => {
  it('is as follows', () => {
    const turns = [
      manualTurn({ manual: 0 }),
      dueTurn({ slotMs: 0, isFirst: true }),
      dueTurn({ slotMs: 1999, isFirst: false }),
      dueTurn({ slotMs: 2000, isFirst: true }),
      manualTurn({ manual: 5 }),
      dueTurn({ slotMs: 2000, isFirst: false }),
    ];
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    expect(new Set(turns).size).toBe(turns.length);
  });

  it("of scans: each account's first before all second ones, and requested ones first of their kind", () => {
    const turns = [
      scanTurn({ inHand: 1, isAsked: true }),
      scanTurn({ inHand: 1, isAsked: false }),
      scanTurn({ inHand: 2, isAsked: true }),
      scanTurn({ inHand: 50, isAsked: true }),
    ];
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    expect(new Set(turns).size).toBe(turns.length);
    expect(scanTurn({ inHand: 0, isAsked: true })).toBeGreaterThan(0);
  });

  it('puts a few checks per minute that users request ahead of all others', () => {
    let manual = 0;
    const ahead = Array.from({ length: 20 }, () => {
      const turn = manualTurn({ manual });
      manual++;
      return turn;
    }).filter((turn) => turn === manualTurn({ manual: 0 }));
    expect(ahead).toHaveLength(5);
  });
});
