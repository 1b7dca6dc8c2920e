import { expect, it } from 'vitest';
import { Slots } from '../../../src/checks/shares/slots.ts';

it('a quarter of the slots is for slow checks; further ones end', () => {
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
