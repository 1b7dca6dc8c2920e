import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inPieces } from '../../src/process/in-pieces.ts';

it('long work is completed, and other work runs between its pieces', async () => {
  const order: string[] = [];
  function* work(): Generator<undefined, number> {
    for (let i = 0; i < 3; i++) {
      order.push(`piece ${i}`);
      yield;
    }
    return 42;
  }
  const others = (async () => {
    for (let i = 0; i < 2; i++) {
      await setImmediate();
      order.push(`other ${i}`);
    }
  })();
  expect(await inPieces(work())).toBe(42);
  await others;
  expect(order.indexOf('other 0')).toBeLessThan(order.indexOf('piece 2'));
  expect(order).toHaveLength(5);
});
