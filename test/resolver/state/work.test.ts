import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';
import { Work } from '../../../src/resolver/state/work.ts';

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
  it('asks once whether it may go on, after a second', () => {
    let asked = 0;
    const work = workWith(() => ++asked > 0);
    work.waits = 1;
    tick(work, 9);
    expect(asked).toBe(0);
    tick(work, 50);
    expect(asked).toBe(1);
    expect(work.stopped).toBeUndefined();
  });

  it('ends when it may not', () => {
    const work = workWith(() => false);
    work.waits = 2;
    tick(work, 10);
    expect(work.stopped).toMatchObject({ by: 'later' });
    expect(() => work.check()).toThrow('took long');
  });

  it('is not slow because this process is busy', () => {
    const work = workWith(() => false);
    tick(work, 100);
    expect(work.stopped).toBeUndefined();
  });

  it('waits while another does its errand', async () => {
    const work = workWith(() => false);
    const ended = work.race(new Promise(() => {}));
    expect(work.waits).toBe(1);
    tick(work, 10);
    await expect(ended).rejects.toMatchObject({ by: 'later' });
  });

  it('may take as long as it likes where nobody asks', () => {
    const work = workWith();
    work.waits = 1;
    tick(work, 100);
    expect(work.stopped).toBeUndefined();
  });
});
