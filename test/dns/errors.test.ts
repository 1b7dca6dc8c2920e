import { expect, it } from 'vitest';
import { TextError, WireError } from '../../src/dns/errors.ts';

it('a fault in text has field, line and column if they are known', () => {
  const place = { field: 'port', line: 2, column: 7 };
  expect(new TextError('bad', place)).toMatchObject({ name: 'TextError', message: 'bad', ...place });
  expect(new TextError('bad')).toMatchObject({ field: undefined, line: undefined, column: undefined });
  expect(new WireError('bad')).not.toBeInstanceOf(TextError);
});
