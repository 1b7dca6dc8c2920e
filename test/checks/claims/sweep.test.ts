import { expect, it } from 'vitest';
import { nextSweep, type SweptName } from '../../../src/checks/claims/sweep.ts';

const DAY = 86_400_000;
const END = 1_800_000_000_000;
const next = (days: number, shown: boolean | undefined, isShown = true) => {
  const name: SweptName = { endedAt: END, isShown };
  const found = nextSweep(name, shown, END + days * DAY, 0.5);
  return found && { days: (found.at - END) / DAY - days, isShown: found.isShown };
};

it('a name is looked at daily for 90 days, whatever is seen', () => {
  expect(next(1, false)).toEqual({ days: 1, isShown: false });
  expect(next(89.9, false, false)).toEqual({ days: 1, isShown: false });
  expect(next(10, true)).toEqual({ days: 1, isShown: true });
});

it('after that it is looked at weekly while the parent shows a name of ours, and never again when it does not', () => {
  expect(next(90, true)).toEqual({ days: 7, isShown: true });
  expect(next(90, false)).toBeUndefined();
  expect(next(700, true, false)).toEqual({ days: 7, isShown: true });
});

it('a look that sees nothing leaves it as it was', () => {
  expect(next(90, undefined)).toEqual({ days: 7, isShown: true });
  expect(next(90, undefined, false)).toBeUndefined();
  expect(next(5, undefined, false)).toEqual({ days: 1, isShown: false });
});

it('looks are spread by a fifth, so that names which ended together part', () => {
  const at = (random: number) => nextSweep({ endedAt: END, isShown: true }, true, END, random)?.at;
  expect([at(0), at(1)]).toEqual([END + 0.8 * DAY, END + 1.2 * DAY]);
});
