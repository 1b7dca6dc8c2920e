import { expect, it } from 'vitest';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';

it('all pieces are done, and what comes of them is the outcome', () => {
  const done: number[] = [];
  function* work(): Generator<undefined, string> {
    for (let i = 0; i < 3; i++) {
      done.push(i);
      yield;
    }
    return 'end';
  }
  expect([inOneGo(work()), done]).toEqual(['end', [0, 1, 2]]);
});
