// The cases of fixtures/records show fields, lines and columns of faults in text.

import { expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';

const token = { text: 'a', quoted: false, line: 3, column: 5 };

it('adds the place of the token to a fault of its parser, and passes on other errors', () => {
  const read = (error: Error) => () =>
    new TokenReader([token], undefined).read(token, () => {
      throw error;
    });
  expect(read(new TextError('bad'))).toThrow(expect.objectContaining({ message: 'bad', line: 3, column: 5 }));
  expect(read(new RangeError('bug'))).toThrow(RangeError);
});

it('reports a missing field at the last token, and without a place if there is none', () => {
  const tokens = new TokenReader([token], undefined);
  tokens.next();
  expect(() => tokens.next()).toThrow(
    expect.objectContaining({ message: 'the field is missing', column: 5 }),
  );
  expect(() => new TokenReader([], undefined).next()).toThrow(expect.objectContaining({ column: undefined }));
});
