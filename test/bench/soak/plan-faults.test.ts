import { describe, expect, it } from 'vitest';
import { planFaults, UNDISTURBED } from '../../../bench/soak/plan-faults.ts';

const PLAN = { seed: 7, everyMs: 120_000, without: [] };

function first(count: number, plan: Parameters<typeof planFaults>[0] = PLAN) {
  return Array.from(
    { length: count },
    (
      (faults) => () =>
        faults.next().value
    )(planFaults(plan)),
  );
}

const ROUND = 26;

describe('planFaults', () => {
  it('repeats the same faults for the same seed', () => {
    expect(first(60)).toEqual(first(60));
    expect(first(60)).not.toEqual(first(60, { ...PLAN, seed: 8 }));
  });

  it('contains each fault once in a round', () => {
    const names = first(2 * ROUND).map(({ kind, target }) => `${kind} ${target}`);
    expect(new Set(names.slice(0, ROUND)).size).toBe(ROUND);
    expect(names.slice(ROUND).sort()).toEqual(names.slice(0, ROUND).sort());
  });

  it('only freezes the programs whose memory is compared', () => {
    const kinds = first(ROUND).filter(({ target }) => UNDISTURBED.includes(target));
    expect(kinds.map(({ kind }) => kind)).toEqual(['freeze', 'freeze', 'freeze']);
  });

  it('leaves out targets that the machine does not support', () => {
    expect(first(100, { ...PLAN, without: ['disk'] }).filter(({ target }) => target === 'disk')).toEqual([]);
  });

  it('never has two faults of the same target at a time', () => {
    let overlapping: string[] = [];
    for (const { target, overlaps } of first(2000)) {
      expect(overlapping).not.toContain(target);
      overlapping = overlaps ? [...overlapping, target] : [];
    }
  });

  it('shortens faults with the pauses between them', () => {
    const longest = Math.max(...first(100, { ...PLAN, everyMs: 12_000 }).map(({ lastsMs }) => lastsMs));
    expect(longest).toBeLessThanOrEqual(3000);
  });
});
