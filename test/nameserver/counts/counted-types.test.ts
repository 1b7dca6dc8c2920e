import { expect, test } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  COUNTED_TYPES,
  countedIndex,
  countedType,
  OTHER_TYPE,
} from '../../../src/nameserver/counts/counted-types.ts';

test('every type with a name is counted by itself, and all others together', () => {
  for (const [name, code] of Object.entries(TYPE)) {
    expect(COUNTED_TYPES[countedIndex(code)]).toBe(name);
    expect(countedType(code)).toBe(code);
  }
  for (const code of [0, 3, 300, 511, 512, 65280, 65535]) {
    expect(COUNTED_TYPES[countedIndex(code)]).toBe('other');
    expect(countedType(code)).toBe(OTHER_TYPE);
  }
});
