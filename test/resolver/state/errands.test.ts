import { describe, expect, it } from 'vitest';
import { type Errand, Errands } from '../../../src/resolver/state/errands.ts';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';
import { Stopped, Work } from '../../../src/resolver/state/work.ts';

interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

const unknown = () => undefined;

function withWork<T>(perform: (work: Work) => Promise<T>): Promise<T> {
  const work = new Work(DEFAULT_LIMITS, undefined);
  return perform(work).finally(() => work.end());
}

describe('an errand', () => {
  it('is done once for all who need it at the time', () =>
    withWork(async (work) => {
      const errands = new Errands();
      const { passed, open } = gate();
      let times = 0;
      const run = () =>
        errands.run('key', { work, within: undefined, look: unknown }, async () => {
          times++;
          await passed;
          return { value: times, isForAll: true };
        });
      const all = [run(), run(), run()];
      open();
      expect(await Promise.all(all)).toEqual([1, 1, 1]);
      expect(await run()).toBe(2);
    }));

  it('is not begun when its outcome is known', () =>
    withWork(async (work) => {
      const value = await new Errands().run('key', { work, within: undefined, look: () => 7 }, () =>
        Promise.reject(new Error('nobody needs that')),
      );
      expect(value).toBe(7);
    }));

  it.each([
    ['is given up', () => Promise.reject(new Stopped('aborted', ''))],
    ['came to what holds for its own purpose only', async () => ({ value: 'first', isForAll: false })],
  ])('is begun again by the next one when the first %s', (_what, end) =>
    withWork(async (work) => {
      const errands = new Errands();
      const { passed, open } = gate();
      const options = { work, within: undefined, look: unknown };
      const first = errands.run<string>('key', options, () => passed.then(end)).catch(() => 'given up');
      const second = errands.run<string>('key', options, async () => ({ value: 'second', isForAll: true }));
      open();
      expect([await first, await second]).not.toContain(undefined);
      expect(await second).toBe('second');
    }));

  it('that fails by a fault of ours fails for all', () =>
    withWork(async (work) => {
      const errands = new Errands();
      const { passed, open } = gate();
      const options = { work, within: undefined, look: unknown };
      const fault = new Error('a bug');
      const first = errands.run('key', options, () => passed.then(() => Promise.reject(fault)));
      const second = errands.run('key', options, async () => ({ value: 1, isForAll: true }));
      const both = Promise.allSettled([first, second]);
      open();
      expect(await both).toEqual(Array(2).fill({ status: 'rejected', reason: fault }));
    }));

  it('that two need for each other is waited for by one of them at most', () =>
    withWork(async (work) => {
      const errands = new Errands();
      const { passed, open } = gate();
      const done: string[] = [];
      const crossing = (own: string, other: string) =>
        errands.run(own, { work, within: undefined, look: unknown }, async (errand) => {
          await passed;
          const value = await errands.run(other, { work, within: errand, look: unknown }, async (inner) => {
            // Whoever came here by himself must not come back to where he began.
            expect(Errands.isLoop(own, inner)).toBe(true);
            done.push(`${other} for ${own}`);
            return { value: other, isForAll: true };
          });
          return { value: `${own} ${value}`, isForAll: true };
        });
      const both = Promise.all([crossing('a', 'b'), crossing('b', 'a')]);
      open();
      const [a, b] = await both;
      expect(a).toMatch(/^a /);
      expect(b).toMatch(/^b /);
      expect(done.length).toBeGreaterThan(0);
    }));

  it('is left by one who must stop, and goes on for the others', async () => {
    const errands = new Errands();
    const { passed, open } = gate();
    const controller = new AbortController();
    const impatient = new Work(DEFAULT_LIMITS, controller.signal);
    const patient = new Work(DEFAULT_LIMITS, undefined);
    const perform = () => passed.then(() => ({ value: 'done', isForAll: true }));
    const first = errands.run('key', { work: patient, within: undefined, look: unknown }, perform);
    const second = errands.run('key', { work: impatient, within: undefined, look: unknown }, perform);
    controller.abort();
    await expect(second).rejects.toBeInstanceOf(Stopped);
    open();
    expect(await first).toBe('done');
    impatient.end();
    patient.end();
  });

  it('knows what it is needed for', () => {
    const errand = (key: string, within?: Errand): Errand => ({ key, within, waitsFor: undefined });
    const inner = errand('c', errand('b', errand('a')));
    expect(['a', 'b', 'c', 'd'].map((key) => Errands.isLoop(key, inner))).toEqual([true, true, true, false]);
  });
});
