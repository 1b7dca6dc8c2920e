import { expect, it } from 'vitest';
import { openTextStream } from '../../../src/api/answers/stream-text.ts';

async function read(lines: Iterable<string>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of openTextStream(lines)) pieces.push(String(piece));
  return pieces;
}

it('a text is sent line by line, in pieces', async () => {
  expect((await read(['a', 'b'])).join('')).toBe('a\nb\n');
  const long = Array.from({ length: 20_000 }, (_, i) => `line ${i} \u00fc`);
  const pieces = await read(long);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.join('')).toBe(`${long.join('\n')}\n`);
});

it('a text of no lines is empty', async () => {
  expect((await read([])).join('')).toBe('');
});

it('text that is not read is not produced', async () => {
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
