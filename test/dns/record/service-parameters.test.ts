import { describe, expect, it } from 'vitest';
import {
  keysIn,
  parseServiceValue,
  printServiceValue,
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
  it('keep commas and backslashes in an identifier, as in RFC 9460 appendix A.1', () => {
    const wire = of('\x08f\\oo,bar\x02h2');
    expect(Uint8Array.from(parseServiceValue(ALPN, of('f\\\\oo\\,bar,h2'), false))).toEqual(wire);
    expect(Buffer.from(printServiceValue(ALPN, wire)).toString()).toBe('f\\\\oo\\,bar,h2');
  });

  it.each(['', ',', 'h2,', 'a\\', 'a\\b', 'a'.repeat(256)])('%j is refused', (text) => {
    expect(() => parseServiceValue(ALPN, of(text), false)).toThrow();
  });
});

it('a value under keyNNNNN is taken as it is, and judged by its key all the same', () => {
  expect(Uint8Array.from(parseServiceValue(ALPN, of('\x02h2'), true))).toEqual(of('\x02h2'));
  expect(serviceValueFault(ALPN, of('\x02h2'))).toBeUndefined();
  expect(serviceValueFault(ALPN, of('h2'))).toBe('it is not a list of protocols');
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
