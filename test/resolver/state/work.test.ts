import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';
import { type SharedTask, SharedTasks } from '../../../src/resolver/state/shared-tasks.ts';
import { Stopped, Work } from '../../../src/resolver/state/work.ts';

const works: Work[] = [];

afterEach(() => {
  for (const work of works.splice(0)) work.end();
});

function workWith(onSlow?: () => boolean): Work {
  const work = new Work(DEFAULT_LIMITS, undefined, { onSlow });
  works.push(work);
  return work;
}

function tick(work: Work, times: number): void {
  for (let i = 0; i < times; i++) work.tick(100);
}

describe('work that waits for packets', () => {
  it('requests permission to continue once, after a second', () => {
    let asked = 0;
    const work = workWith(() => ++asked > 0);
    work.waits = 1;
    tick(work, 9);
    expect(asked).toBe(0);
    tick(work, 50);
    expect(asked).toBe(1);
    expect(work.stopped).toBeUndefined();
  });

  it('ends without permission', () => {
    const work = workWith(() => false);
    work.waits = 2;
    tick(work, 10);
    expect(work.stopped).toMatchObject({ by: 'later' });
    expect(() => work.check()).toThrow('it was slow');
  });

  it('is not slow because this process is busy', () => {
    const work = workWith(() => false);
    tick(work, 100);
    expect(work.stopped).toBeUndefined();
  });

  it('waits while another check performs its task', async () => {
    const work = workWith(() => false);
    const ended = work.race(new Promise(() => {}));
    expect(work.waits).toBe(1);
    tick(work, 10);
    await expect(ended).rejects.toMatchObject({ by: 'later' });
  });

  it('may take any time without a callback', () => {
    const work = workWith();
    work.waits = 1;
    tick(work, 100);
    expect(work.stopped).toBeUndefined();
  });
});

type Perform<T> = (task: SharedTask) => Promise<{ value: T; isReusable: boolean }>;

/** SharedTasks of one work, and a gate that the test opens. */
function start(signal?: AbortSignal) {
  const sharedTasks = new SharedTasks();
  const work = new Work(DEFAULT_LIMITS, signal);
  works.push(work);
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  const run = <T>(perform: Perform<T>, key = 'key', more: { within?: SharedTask; by?: Work } = {}) =>
    sharedTasks.run(key, { work: more.by ?? work, within: more.within, look: () => undefined }, perform);
  return { sharedTasks, work, run, passed, open: () => open() };
}
afterEach(() => {
  for (const work of works.splice(0)) work.end();
});

describe('a task', () => {
  it('is performed once for all that need it concurrently', async () => {
    const { run, passed, open } = start();
    let times = 0;
    const perform = async () => {
      times++;
      await passed;
      return { value: times, isReusable: true };
    };
    const all = [run(perform), run(perform), run(perform)];
    open();
    expect(await Promise.all(all)).toEqual([1, 1, 1]);
    expect(await run(perform)).toBe(2);
  });

  it('is not started if its outcome is known', async () => {
    const { sharedTasks, work } = start();
    const unneeded = () => Promise.reject(new Error('nobody needs that'));
    expect(await sharedTasks.run('key', { work, within: undefined, look: () => 7 }, unneeded)).toBe(7);
  });

  it.each<[string, Perform<string>]>([
    ['was aborted', () => Promise.reject(new Stopped('aborted', ''))],
    ['has a result only for its own caller', async () => ({ value: 'first', isReusable: false })],
  ])('is repeated by the next one if the first %s', async (_, end) => {
    const { run, passed, open } = start();
    const first = run<string>((task) => passed.then(() => end(task))).catch(() => 'given up');
    const second = run(async () => ({ value: 'second', isReusable: true }));
    open();
    expect(await first).toBeDefined();
    expect(await second).toBe('second');
  });

  it('that fails because of a bug fails for all', async () => {
    const { run, passed, open } = start();
    const reason = new Error('a bug');
    const first = run(() => passed.then(() => Promise.reject(reason)));
    const second = run(async () => ({ value: 1, isReusable: true }));
    const both = Promise.allSettled([first, second]);
    open();
    expect(await both).toEqual(Array(2).fill({ status: 'rejected', reason }));
  });

  it('that two need from each other is awaited by at most one of them', async () => {
    const { run, passed, open } = start();
    const done: string[] = [];
    const crossing = (own: string, other: string) =>
      run(async (within) => {
        await passed;
        const perform: Perform<string> = async (inner) => {
          // The caller that arrived here must not return to its start.
          expect(SharedTasks.isLoop(own, inner)).toBe(true);
          done.push(`${other} for ${own}`);
          return { value: other, isReusable: true };
        };
        return { value: `${own} ${await run(perform, other, { within })}`, isReusable: true };
      }, own);
    const both = Promise.all([crossing('a', 'b'), crossing('b', 'a')]);
    open();
    expect(await both).toEqual([expect.stringMatching(/^a /), expect.stringMatching(/^b /)]);
    expect(done.length).toBeGreaterThan(0);
  });

  it('is abandoned by a work that must stop, and continues for the others', async () => {
    const controller = new AbortController();
    const { run, passed, open } = start();
    const { work: impatient } = start(controller.signal);
    const perform = () => passed.then(() => ({ value: 'done', isReusable: true }));
    const first = run(perform);
    const second = run(perform, 'key', { by: impatient });
    controller.abort();
    await expect(second).rejects.toBeInstanceOf(Stopped);
    open();
    expect(await first).toBe('done');
  });

  it('knows which tasks need it', () => {
    const task = (key: string, within?: SharedTask): SharedTask => ({ key, within, waitsFor: undefined });
    const inner = task('c', task('b', task('a')));
    expect(['a', 'b', 'c', 'd'].map((key) => SharedTasks.isLoop(key, inner))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
