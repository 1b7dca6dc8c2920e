// Destinations split into boxes and joined again.

import { describe, expect, it } from 'vitest';
import {
  joinDestination,
  partAtFault,
  splitDestination,
} from '../../../../console/src/screens/records/type-fields.ts';

const VALID: readonly [string, string, readonly string[]][] = [
  ['SRV', '10 5 5060 sip.example.net', ['10', '5', '5060', 'sip.example.net']],
  [
    'CAA',
    '0 issue "letsencrypt.org; validationmethods=dns-01"',
    ['0', 'issue', 'letsencrypt.org; validationmethods=dns-01'],
  ],
  ['CAA', '0 issue ""', ['0', 'issue', '']],
  ['TLSA', '3 1 1 ab cd', ['3', '1', '1', 'ab cd']],
  ['HTTPS', '1 . alpn="h2,h3" port=8443', ['1', '.', 'alpn="h2,h3" port=8443']],
  ['HTTPS', '0 www.example.net.', ['0', 'www.example.net.', '']],
  [
    'NAPTR',
    '100 10 "U" "E2U+sip" "!^.*$!sip:\\\\1@example.net!" .',
    ['100', '10', 'U', 'E2U+sip', '!^.*$!sip:\\1@example.net!', '.'],
  ],
  ['URI', '10 1 "https://www.example.net/a\\"b"', ['10', '1', 'https://www.example.net/a"b']],
];

describe('a destination', () => {
  it.each(VALID)('of %s is split and joined: %s', (type, destination, texts) => {
    expect(splitDestination(type, destination)).toEqual(texts);
    expect(joinDestination(type, texts)).toBe(destination);
  });

  it('keeps the place of boxes that are still empty', () => {
    const typed = ['', '', '5060', ''];
    const joined = joinDestination('SRV', typed);
    expect(splitDestination('SRV', joined)).toEqual(typed);
    expect(joinDestination('SRV', ['', '', '', ''])).toBe('');
    expect(splitDestination('SRV', '')).toEqual(['', '', '', '']);
  });

  it('takes a quote and a backslash while they are typed, wherever they stand', () => {
    for (const text of ['a"', '"', '\\', 'a\\', '\\"', 'a b"c\\ d', '\\1']) {
      const typed = ['0', 'issue', text];
      expect(splitDestination('CAA', joinDestination('CAA', typed))).toEqual(typed);
    }
  });

  it('leaves octets alone, and a backslash before three digits stays a backslash', () => {
    expect(splitDestination('CAA', '0 issue "\\195\\188"')).toEqual(['0', 'issue', '\\195\\188']);
    expect(joinDestination('CAA', ['0', 'issue', '\\195\\188'])).toBe('0 issue "\\195\\188"');
    const texts = splitDestination('CAA', '0 issue "\\\\123"') ?? [];
    expect(joinDestination('CAA', texts)).toBe('0 issue "\\092123"'); // the same octets
  });

  it('is one box where it has another form', () => {
    expect(splitDestination('SRV', '\\# 4 00010002')).toBeUndefined();
    expect(splitDestination('SRV', '1 2 3 host more')).toBeUndefined();
    expect(splitDestination('CAA', '0 issue "open')).toBeUndefined();
    expect(splitDestination('A', '192.0.2.1')).toBeUndefined();
  });

  it('drops spaces that would move a word into the next box', () => {
    expect(joinDestination('SRV', ['1 0', '5', ' 5060', 'host'])).toBe('10 5 5060 host');
  });
});

describe('an error of the destination', () => {
  it('is about the box that it names', () => {
    expect(partAtFault('SRV', 'port: a number is needed')).toEqual({
      part: 'port',
      message: 'a number is needed',
    });
    expect(partAtFault('SRV', 'colour: is odd')).toEqual({ message: 'colour: is odd' });
    expect(partAtFault('A', 'no address')).toEqual({ message: 'no address' });
  });
});
