import { expect, it } from 'vitest';
import { ProblemList } from '../../src/zone/zone-problem.ts';

it('lists a thousand problems, then reports that there are more', () => {
  const problems = new ProblemList();
  for (let i = 0; i < 5000; i++) problems.report('BAD_TTL', `number ${i}`);
  expect(problems.list).toHaveLength(1001);
  expect(problems.list[999]).toEqual({ code: 'BAD_TTL', message: 'number 999' });
  expect(problems.list[1000]?.message).toBe('only the first 1000 are listed');
});
