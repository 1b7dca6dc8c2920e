// Steps back and forth.

import { describe, expect, it } from 'vitest';
import {
  back,
  forth,
  NO_STEPS,
  step,
  type UndoStack,
} from '../../../../console/src/screens/records/undo-stack.ts';

const empty: UndoStack<string> = NO_STEPS;

describe('an undo stack', () => {
  it('goes back and forth', () => {
    const stack = step(step(empty, '', 'a'), 'x', 'b');
    const once = back(stack, 'xy');
    expect(once?.value).toBe('x');
    const twice = back(once!.stack, once!.value);
    expect(twice?.value).toBe('');
    expect(back(twice!.stack, twice!.value)).toBeUndefined();
    const again = forth(twice!.stack, twice!.value);
    expect(again?.value).toBe('x');
    expect(forth(again!.stack, again!.value)?.value).toBe('xy');
  });

  it('takes typing in one field as one step', () => {
    const stack = step(step(step(empty, '', 'n1 name'), 'w', 'n1 name'), 'ww', 'n1 name');
    expect(back(stack, 'www')?.value).toBe('');
    const apart = step(step(empty, '', undefined), 'w', undefined);
    expect(back(apart, 'ww')?.value).toBe('w');
  });

  it('begins another step after an undo, and forgets what was undone', () => {
    const undone = back(step(empty, '', 'a'), 'x')!;
    const stack = step(undone.stack, '', 'a');
    expect(forth(stack, 'y')).toBeUndefined();
    expect(back(stack, 'y')?.value).toBe('');
  });

  it('is bounded', () => {
    let stack = empty;
    for (let i = 0; i < 1000; i++) stack = step(stack, String(i), undefined);
    expect(stack.past.length).toBe(200);
    expect(stack.past.at(-1)).toBe('999');
  });
});
