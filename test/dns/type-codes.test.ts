import { expect, it } from 'vitest';
import { CLASS, classCode, TYPE, typeCode, typeMnemonic } from '../../src/dns/type-codes.ts';

it('mnemonics are read in any case, and printed in upper case', () => {
  for (const [mnemonic, code] of Object.entries(TYPE)) {
    expect(typeCode(mnemonic.toLowerCase())).toBe(code);
    expect(typeMnemonic(code)).toBe(mnemonic);
  }
  for (const [mnemonic, code] of Object.entries(CLASS)) {
    expect(classCode(mnemonic.toLowerCase())).toBe(code);
  }
});

it('numbers are written as in RFC 3597 §5, for types that have a mnemonic too', () => {
  expect(typeCode('TYPE65280')).toBe(65280);
  expect(typeCode('type1')).toBe(TYPE.A);
  expect(typeMnemonic(65280)).toBe('TYPE65280');
  expect(classCode('CLASS32')).toBe(32);
  expect(classCode('class1')).toBe(CLASS.IN);
});

it('returns undefined for all else', () => {
  for (const text of '|TYPE|TYPE65536|TYPE-1|TYPE1.5|TYPE1e3|TYPE000001|ANAME|ſoa|constructor'.split('|'))
    expect(typeCode(text)).toBeUndefined();
  for (const text of ['', 'CLASS', 'CLASS65536', 'CLASSIN', 'toString'])
    expect(classCode(text)).toBeUndefined();
});
