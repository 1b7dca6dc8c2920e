// The form of a new key becomes what the API takes, and its refusals are told at the item that they are about.

import { describe, expect, it } from 'vitest';
import { endOfKey, listed, problemOfList } from '../../../../console/src/screens/account/key-wish.ts';

describe('listed', () => {
  it('takes commas, spaces and lines', () => {
    expect(listed(' a.example, b.example;c.example\nd.example ,')).toEqual([
      'a.example',
      'b.example',
      'c.example',
      'd.example',
    ]);
    expect(listed('  ')).toEqual([]);
  });
});

describe('endOfKey', () => {
  it('counts from now, and is absent for a key without end', () => {
    const now = Date.parse('2026-11-28T12:00:00Z');
    expect(endOfKey('7', now)).toBe('2026-12-05T12:00:00.000Z');
    expect(endOfKey('', now)).toBeUndefined();
    expect(endOfKey('0', now)).toBeUndefined();
  });
});

describe('problemOfList', () => {
  it('names the item', () => {
    const fields = [
      { field: 'name', error: 'is needed' },
      { field: 'names[1]', error: 'is no name' },
    ];
    expect(problemOfList(fields, 'names', ['a', 'b c'])).toBe('b c: is no name');
    expect(problemOfList(fields, 'types', ['TXT'])).toBeUndefined();
    expect(problemOfList([{ field: 'types', error: 'too many' }], 'types', [])).toBe('too many');
    expect(problemOfList(undefined, 'types', [])).toBeUndefined();
  });
});
