import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScan } from '../../../src/api/body/scan-json.ts';

const VALUES = 1000;

/**
 * Returns the result of scanning a body in pieces of this size, and the number of bytes that were scanned before it.
 */
function scan(text: string, values = VALUES, piece = 7): { breach: string | undefined; read: number } {
  const scanning = new JsonScan({ values });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) {
    const breach = scanning.push(bytes.subarray(at, at + piece));
    if (breach !== undefined) return { breach, read: at + piece };
  }
  return { breach: undefined, read: bytes.length };
}

describe('a body is refused at the byte that exceeds a limit', () => {
  it.each([
    ['numbers', `[${'1,'.repeat(100_000)}1]`, 'more than 1000 values'],
    ['empty objects', `[${'{},'.repeat(100_000)}1]`, 'more than 1000 values'],
    ['empty arrays', `{"create":[${'[],'.repeat(100_000)}1]}`, 'more than 1000 values'],
    ['texts', `[${'"",'.repeat(100_000)}1]`, 'more than 1000 values'],
    ['literals', `[${'null,'.repeat(100_000)}1]`, 'more than 1000 values'],
    ['arrays in arrays', '['.repeat(100_000), 'deeper than 64 levels'],
    ['objects in objects', '{"a":'.repeat(100_000), 'deeper than 64 levels'],
    ['members', `{${'"a":1,'.repeat(100_000)}"a":1}`, 'more than 256 members'],
    ['a number', `{"delete":[${'1'.repeat(100_000)}]}`, 'number of more than 256 bytes'],
    ['a word that is not JSON', 'x'.repeat(100_000), 'number of more than 256 bytes'],
    ['a name', `{"${'k'.repeat(100_000)}":1}`, 'name of more than 1024 bytes'],
    ['a name of escapes', `{"${'\\"'.repeat(50_000)}":1}`, 'name of more than 1024 bytes'],
  ])('%s', (_, text, words) => {
    const { breach, read } = scan(text);
    expect(breach).toContain(words);
    expect(read).toBeLessThan(10_000);
  });
});

it('a body within the limits passes, wherever it is split: texts may have any length and any bytes', () => {
  const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
  const members = `{${Array.from({ length: 256 }, (_, i) => `"m${i}":${i}`).join(',')}}`;
  const texts = JSON.stringify([
    '[[[['.repeat(1000),
    '{"a":"'.repeat(1000),
    '\\'.repeat(999),
    '",",'.repeat(999),
  ]);
  for (const text of [deep, members, texts, '1', '""', '', ' \r\n\t', '}}}]]]']) {
    for (const piece of [1, 2, 3, 1000]) expect(scan(text, VALUES, piece).breach).toBeUndefined();
  }
});

it('each value of any JSON is counted once', () => {
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Object.values(value).reduce((sum: number, member) => sum + count(member), 0)
      : 1;
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), fc.integer({ min: 1, max: 9 }), (value, spaced, piece) => {
      const text = JSON.stringify(value, null, spaced ? 2 : 0);
      const values = count(JSON.parse(text));
      expect(scan(text, values, piece).breach).toBeUndefined();
      expect(scan(text, values - 1, piece).breach).toContain('values');
    }),
  );
});
