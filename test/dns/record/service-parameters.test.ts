import { describe, expect, it } from 'vitest';
import {
  keysIn,
  parseServiceValue,
  serviceKey,
  serviceKeyName,
  serviceValueFault,
} from '../../../src/dns/record/service-parameters.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

const of = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));
const ALPN = 1;

describe('keys of service parameters', () => {
  it('have the names of their RFCs or a number', () => {
    const names = wordsOf(`
      mandatory alpn no-default-alpn port ipv4hint ech ipv6hint dohpath ohttp`);
    for (const [key, name] of names.entries()) {
      expect(serviceKey(name)).toBe(key);
      expect(serviceKey(`key${key}`)).toBe(key);
      expect(serviceKey(serviceKeyName(key))).toBe(key);
    }
    expect(serviceKeyName(667)).toBe('key667');
    expect(serviceKeyName(1)).toBe('alpn');
  });

  it.each(['', 'key', 'key01', 'key65535', 'key65536', 'Key1', 'ALPN', 'key-1'])('%j is none', (name) => {
    expect(serviceKey(name)).toBeUndefined();
  });
});

describe('lists of protocols', () => {
  it.each(['', ',', 'h2,', 'a\\', 'a\\b', 'a'.repeat(256)])('%j is refused', (text) => {
    expect(() => parseServiceValue(ALPN, of(text), false)).toThrow();
  });
});

it('mandatory keys rise on the wire, whatever their order in text', () => {
  const wire = parseServiceValue(0, of('key667,port,alpn'), false);
  expect(keysIn(wire)).toEqual([1, 3, 667]);
  expect(serviceValueFault(0, wire)).toBeUndefined();
  for (const bad of ['\0\x03\0\x01', '\0\x03\0\x03', '\0\0', '\0', '', '\xff\xff']) {
    expect(serviceValueFault(0, of(bad)), JSON.stringify(bad)).toBeDefined();
  }
});

it.each([
  ['/dns-query{?dns}', true],
  ['/{dns}', true],
  ['/q{?a,dns,b}', true],
  ['/q{?dns*}', true],
  ['/dns-query', false],
  ['dns-query{?dns}', false],
  ['/q{?dnsx}', false],
  ['/q\xff{?dns}', false],
])('the path template %s is valid: %s', (text, valid) => {
  expect(serviceValueFault(7, of(text)) === undefined).toBe(valid);
});
