import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { JsonTexts, openArrayStream, openTextStream } from '../../../src/api/answers/streams.ts';
import { until } from '../../support/tests/until.ts';

/** Counts the pages that were read ahead, and records whether the source was stopped. */
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

async function textOf(pages: AsyncIterable<readonly unknown[] | JsonTexts>): Promise<string> {
  let text = '';
  for await (const piece of await openArrayStream(pages)) text += piece;
  return text;
}

/** A list that is longer than one piece. */
async function streamOf(pages: AsyncIterable<readonly unknown[]>): Promise<Readable> {
  const stream = await openArrayStream(pages);
  if (!(stream instanceof Readable)) throw new Error('the list is one piece');
  return stream;
}

async function* pagesOf<T>(...pages: T[]): AsyncGenerator<T> {
  yield* pages;
}

describe('a streamed array', () => {
  it.each([0, 1, 2, 1000])('of %i items is the JSON of all items', async (count) => {
    const items = JSON.parse(await textOf(counted(count).items));
    expect(items).toHaveLength(count);
    expect(items.map(({ n }: { n: number }) => n)).toEqual([...items.keys()]);
  });

  it('is a text if it fits into one piece', async () => {
    expect(await openArrayStream(pagesOf([]))).toBe('[]');
    expect(await openArrayStream(pagesOf([], [1, { a: 'b' }], [], [null]))).toBe('[1,{"a":"b"},null]');
  });

  it('contains items that are already JSON unchanged', async () => {
    const texts = new JsonTexts(['{"n":1}', '[2]']);
    expect(await openArrayStream(pagesOf<unknown[] | JsonTexts>([0], texts, new JsonTexts([]), ['x']))).toBe(
      '[0,{"n":1},[2],"x"]',
    );
    const long = Array.from({ length: 10_000 }, (_, i) => `"${i}"`);
    expect(JSON.parse(await textOf(pagesOf(new JsonTexts(long), new JsonTexts(long))))).toEqual(
      [...long, ...long].map((text) => JSON.parse(text)),
    );
  });

  it('contains items that are already octets unchanged, in one piece or several', async () => {
    const octets = new JsonTexts([Buffer.from('1,"ü"'), '2', Buffer.from('3')]);
    const opened = await openArrayStream(pagesOf<unknown[] | JsonTexts>(octets, new JsonTexts([]), [4]));
    expect(String(opened)).toBe('[1,"ü",2,3,4]');
    const long = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i).join());
    const pages = pagesOf<unknown[] | JsonTexts>(new JsonTexts([long]), octets, new JsonTexts([long, long]));
    expect(await textOf(pages)).toBe(`[${long},1,"ü",2,3,${long},${long}]`);
  });

  it.each([
    ['small after large', [400_000, ...Array<number>(300).fill(3)]],
    ['large after small', [...Array<number>(300).fill(3), 400_000, 400_000]],
    ['undefined and empty', []],
  ])('contains every item of a page once: %s', async (_, lengths) => {
    const page = [...lengths.map((length, i) => `${i}${'x'.repeat(length)}`), undefined, {}];
    expect(await textOf(pagesOf(page))).toBe(JSON.stringify(page));
  });

  it('reads no further ahead than the client reads', async () => {
    const { state, items } = counted(100_000);
    const stream = await streamOf(items);
    stream.read(1);
    await new Promise((done) => setImmediate(done));
    expect(state.read).toBeLessThan(5000);
    stream.destroy();
    await until(() => state.stopped, 'the source is told');
  });

  it('stops its source if the client disconnects before the first byte', async () => {
    const { state, items } = counted(100_000);
    (await streamOf(items)).destroy();
    await until(() => state.stopped, 'the source is told');
  });

  it('fails before it is sent if it cannot be read at all', async () => {
    const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('gone')) }) };
    await expect(openArrayStream(broken)).rejects.toThrow('gone');
  });
});

async function read(lines: Iterable<string | Buffer>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of openTextStream(lines)) pieces.push(String(piece));
  return pieces;
}

it('a streamed text is sent line by line, in pieces', async () => {
  expect((await read(['a', 'b'])).join('')).toBe('a\nb\n');
  const long = Array.from({ length: 20_000 }, (_, i) => `line ${i} \u00fc`);
  const pieces = await read(long);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe(`${long.join('\n')}\n`);
});

it('a streamed text contains octets unchanged', async () => {
  const long = Buffer.from('x\n'.repeat(100_000));
  expect((await read(['a', Buffer.from('b\nü\n'), long, 'c'])).join('')).toBe(`a\nb\nü\n${long}c\n`);
});

it('a streamed text without lines is empty', async () => {
  expect((await read([])).join('')).toBe('');
});

it('a streamed text that is not read is not produced', async () => {
  let made = 0;
  function* endless(): Generator<string> {
    for (;;) yield `${made++}`;
  }
  const stream = openTextStream(endless());
  for await (const piece of stream) {
    expect(String(piece)).toMatch(/^0\n1\n/);
    break;
  }
  expect(stream.destroyed).toBe(true);
  expect(made).toBeLessThan(1_000_000);
});
