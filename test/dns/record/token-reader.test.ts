import { expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';

const token = (text: string, column: number, quoted = false) => ({ text, quoted, line: 3, column });

it('tokens come in order, and a word must not be quoted', () => {
  const tokens = new TokenReader(
    [token('a', 1), token('b', 3, true), token('c', 7), token('d', 9)],
    undefined,
  );
  expect(tokens.word().text).toBe('a');
  expect(tokens.next().text).toBe('b');
  expect(tokens.words().map(({ text }) => text)).toEqual(['c', 'd']);
  tokens.finish();
  expect(() => new TokenReader([token('b', 3, true)], undefined).word()).toThrow('must not be in quotes');
});

it('faults have field, line and column: of the token at fault, else of the last one', () => {
  const tokens = new TokenReader([token('a', 1), token('b', 3)], undefined);
  tokens.field = 'port';
  expect(() => tokens.fail('no', tokens.peek())).toThrow(
    expect.objectContaining({ message: 'no', field: 'port', line: 3, column: 1 }),
  );
  tokens.words();
  expect(() => tokens.next()).toThrow(
    expect.objectContaining({ message: 'the field is missing', column: 3 }),
  );
});

it('a fault of a parser gets the place of its token; other errors pass', () => {
  const tokens = new TokenReader([token('a', 5)], undefined);
  const read = (error: Error) => () =>
    tokens.read(tokens.peek() as ReturnType<typeof token>, () => {
      throw error;
    });
  expect(read(new TextError('bad'))).toThrow(expect.objectContaining({ message: 'bad', line: 3, column: 5 }));
  expect(read(new RangeError('bug'))).toThrow(RangeError);
});

it('an rdata without tokens has faults without a place', () => {
  const tokens = new TokenReader([], undefined);
  expect(() => tokens.next()).toThrow(expect.objectContaining({ line: undefined, column: undefined }));
});

it('tokens that are left over are a fault', () => {
  expect(() => new TokenReader([token('a', 5)], undefined).finish()).toThrow(
    'more than the record has fields for',
  );
});
