// The list of what is wrong with a zone.

import { describe, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { describeSet, ProblemList } from '../../src/zone/zone-problem.ts';

describe('the problems of a zone', () => {
  it('are a thousand, then it says that there are more', () => {
    const problems = new ProblemList();
    for (let i = 0; i < 5000; i++) problems.report('BAD_TTL', `number ${i}`);
    expect(problems.list).toHaveLength(1001);
    expect(problems.list[999]).toEqual({ code: 'BAD_TTL', message: 'number 999' });
    expect(problems.list[1000]?.message).toBe('only the first 1000 are listed');
  });

  it('name owner and type where there are any', () => {
    const problems = new ProblemList();
    const owner = parseName('a.example.');
    problems.report('BELOW_DNAME', 'x', owner);
    problems.report('BAD_TTL', 'y', owner, TYPE.A);
    expect(problems.list).toEqual([
      { code: 'BELOW_DNAME', message: 'x', owner },
      { code: 'BAD_TTL', message: 'y', owner, type: TYPE.A },
    ]);
    expect(describeSet(owner, 65280)).toBe('a.example. TYPE65280');
  });
});
