import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/cli/terminal/failure.ts';
import { parseZoneName } from '../../../src/cli/terminal/parse-zone-name.ts';
import { printName } from '../../../src/dns/name.ts';

describe('a zone name as an operator types it', () => {
  it.each([
    ['example.com', 'example.com.'],
    ['example.com.', 'example.com.'],
    ['EXAMPLE.Com', 'example.com.'],
    ['.', '.'],
    ['0/26.2.0.192.in-addr.arpa', '0/26.2.0.192.in-addr.arpa.'],
    ['a\\.b.example', 'a\\.b.example.'],
    ['example\\.', 'example\\..'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de.'],
    ['München.de.', 'xn--mnchen-3ya.de.'],
    ['bücher。de', 'xn--bcher-kva.de.'],
  ])('%s is the zone %s', (text, printed) => {
    expect(printName(parseZoneName(text))).toBe(printed);
  });

  it.each([
    ['', 'empty'],
    ['@', 'write the name'],
    ['a..b', 'empty label'],
    ['.example', 'empty label'],
    ['a\\', 'lone backslash'],
    [`${'a'.repeat(64)}.example`, '63 octets'],
    [`${'abcdefg.'.repeat(32)}example`, '255 octets'],
    ['mün chen.de', 'not a valid internationalised label'],
    ['ü..de', 'empty labels'],
  ])('"%s" is refused as wrong usage: %s', (text, message) => {
    const parse = () => parseZoneName(text);
    expect(parse).toThrow(Failure);
    expect(parse).toThrow(message);
  });
});
