// A-labels as people write them.

import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readableName } from '../../../../console/src/screens/records/punycode.ts';

describe('a name', () => {
  it.each([
    'müller',
    'bücher',
    '例え',
    'пример',
    'ελληνικά',
    'مثال',
    'straße-ähnlich',
    'ü',
  ])('is read back: %s', (label) => {
    const ascii = domainToASCII(label);
    expect(ascii).not.toBe('');
    expect(readableName(`www.${ascii}`)).toBe(`www.${label}`);
  });

  it.each([
    'xn--',
    'xn--!',
    'xn--99999999999',
    'xn--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz',
    'www',
    '*',
    '@',
    '_xn--a',
    'xn--<b>',
  ])('stays as it is: %s', (name) => {
    expect(readableName(name)).toBe(name);
  });
});
