import { describe, expect, it } from 'vitest';
import {
  type AddressMemory,
  afterTrial,
  judgeTrial,
  rememberedMs,
} from '../../../src/checks/shares/silence.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

const open = { windowAt: NOW, asked: 1, openUntil: undefined };
const silent: AddressMemory = { repliedAt: undefined, silences: 30, ...open };

/** Asks every second; a silent question lasts 6 s. Gives when questions were sent, in milliseconds from the start. */
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
  it('gets one question at a time and three a minute; after ten silences one in ten minutes', () => {
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

  it('whatever the process that asked it does not tell, the next question is due when it must be over', () => {
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

  it('after many silences is proven all the same', () => {
    expect(askEverySecond(3_600_000, 1_800_000).length).toBeLessThan(20);
    expect(judgeTrial(silent, NOW + MINUTE)).toEqual({ kind: 'wait', waitMs: 9 * MINUTE });
    expect(judgeTrial(afterTrial(silent, true, NOW), NOW)).toEqual({ kind: 'proven' });
    expect(afterTrial(silent, true, NOW).silences).toBe(0);
  });
});

it('a clock that goes back lets the address be asked', () => {
  expect(judgeTrial(silent, NOW - DAY).kind).toBe('go');
});

it('silence is remembered from the third on, for 5 minutes growing to an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 99].map((count) => rememberedMs(count) / MINUTE)).toEqual([
    0, 0, 5, 10, 20, 40, 60, 60, 60,
  ]);
});
