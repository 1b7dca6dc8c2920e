import { expect, it } from 'vitest';
import { TextError, WireError } from '../../src/dns/errors.ts';

it('bad text says where it stands, as far as that is known', () => {
  expect(new TextError('bad', { field: 'port', line: 2, column: 7 })).toMatchObject({
    name: 'TextError',
    message: 'bad',
    field: 'port',
    line: 2,
    column: 7,
  });
  expect(new TextError('bad')).toMatchObject({ field: undefined, line: undefined, column: undefined });
});

it('bad octets and bad text are told apart', () => {
  expect(new WireError('bad')).not.toBeInstanceOf(TextError);
  expect(new WireError('bad').name).toBe('WireError');
});
