import { describe, expect, it } from 'vitest';
import { TextError, WireError } from '../../../src/dns/errors.ts';
import { ZoneFileProblems } from '../../../src/dns/zone-file/zone-file-problems.ts';

const PLACE = { line: 2, column: 3 };

describe('the problems of a zone file', () => {
  it('take place and field from the fault when it knows them better', () => {
    const problems = new ZoneFileProblems(undefined);
    const fail = (error: Error) => () => {
      throw error;
    };
    problems.attempt(PLACE, 'owner', fail(new TextError('one')));
    problems.attempt(PLACE, 'owner', fail(new TextError('two', { field: 'port', line: 8, column: 9 })));
    problems.attempt(PLACE, undefined, fail(new WireError('three')));
    expect(problems.list).toEqual([
      { line: 2, column: 3, field: 'owner', message: 'one' },
      { line: 8, column: 9, field: 'port', message: 'two' },
      { line: 2, column: 3, message: 'three' },
    ]);
  });

  it('are not made of bugs', () => {
    const problems = new ZoneFileProblems(undefined);
    expect(() =>
      problems.attempt(PLACE, undefined, () => {
        throw new RangeError('a bug');
      }),
    ).toThrow(RangeError);
  });

  it('do not quote a whole file', () => {
    const problems = new ZoneFileProblems(undefined);
    problems.add(PLACE, 'x'.repeat(1_000_000));
    expect(problems.list[0]?.message.length).toBeLessThan(500);
  });

  it('are sorted by place within each file', () => {
    const problems = new ZoneFileProblems(undefined);
    problems.add({ line: 9, column: 1 }, 'c');
    problems.in('z.inc').add({ line: 1, column: 1 }, 'd');
    problems.add({ line: 2, column: 5 }, 'b');
    problems.add({ line: 2, column: 4 }, 'a');
    problems.sort();
    expect(problems.list.map(({ message }) => message).join('')).toBe('abcd');
  });
});
