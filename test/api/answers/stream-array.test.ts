import { describe, expect, it } from 'vitest';
import { openArrayStream } from '../../../src/api/answers/stream-array.ts';
import { until } from '../../support/tests/until.ts';

/** Counts what was read ahead, and whether it was told to stop. */
function counted(count: number) {
  const state = { read: 0, stopped: false };
  async function* items() {
    try {
      for (; state.read < count; state.read++) yield [{ n: state.read, text: 'x'.repeat(100) }];
    } finally {
      state.stopped = true;
    }
  }
  return { state, items: items() };
}

async function textOf(pages: AsyncIterable<readonly unknown[]>): Promise<string> {
  let text = '';
  for await (const piece of await openArrayStream(pages)) text += piece;
  return text;
}

describe('a streamed array', () => {
  it.each([0, 1, 2, 1000])('of %i items is the JSON of all of them', async (count) => {
    const items = JSON.parse(await textOf(counted(count).items));
    expect(items).toHaveLength(count);
    expect(items.map(({ n }: { n: number }) => n)).toEqual([...items.keys()]);
  });

  it('reads no further ahead than its reader takes', async () => {
    const { state, items } = counted(100_000);
    const stream = await openArrayStream(items);
    stream.read(1);
    await new Promise((done) => setImmediate(done));
    expect(state.read).toBeLessThan(5000);
    stream.destroy();
    await until(() => state.stopped, 'the source is told');
  });

  it('stops its source when the client leaves before the first byte', async () => {
    const { state, items } = counted(100_000);
    (await openArrayStream(items)).destroy();
    await until(() => state.stopped, 'the source is told');
  });

  it('that cannot be read at all fails before it is sent', async () => {
    const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('gone')) }) };
    await expect(openArrayStream(broken)).rejects.toThrow('gone');
  });
});
