import { describe, expect, it } from 'vitest';
import { isMoreThanLine, isZoneText } from '../../../console/src/screens/records/zone-text.ts';

describe('pasted text', () => {
  it.each([
    '$ORIGIN shop.example.\n@ SOA ns1 host 1 2 3 4 5',
    'www 300 IN A 192.0.2.1\nmail IN A 192.0.2.2',
    'intro\n\tIN\tMX\t10 mail',
    'www in a 192.0.2.1\n',
    '; comment\nwww CNAME shop.example.net.',
    'www 1h TXT "text"',
    '{ "ResourceRecordSets": [] }',
  ])('is recognized as a zone file: %j', (text) => expect(isZoneText(text)).toBe(true));

  it.each([
    'This is a text\nabout A records in general.',
    'name,type,value\nwww,A,192.0.2.1',
    '{"records": []}',
    'function () {\n  return A;\n}',
    '',
  ])('is not recognized as a zone file: %j', (text) => expect(isZoneText(text)).toBe(false));

  it('is more than one record if it has several lines, is Route 53 JSON, or is too long', () => {
    const more = ['a\nb', 'a\r\n\r\nb', '\n a\n b', ' {"ResourceRecordSets": []}', 'a'.repeat(5_000_000)];
    expect(more.map(isMoreThanLine)).toEqual(more.map(() => true));
    const one = ['a', 'a\n', '\n\na b\n', '', '{"a": 1}', `@ TXT ${'a'.repeat(200_000)}`];
    expect(one.map(isMoreThanLine)).toEqual(one.map(() => false));
  });

  it('is classified in linear time', () => {
    for (const text of [`{${'a'.repeat(1_000_000)}`, 'A '.repeat(5_000_000), ' '.repeat(1_000_000)])
      expect(isZoneText(text)).toBe(false);
  });
});
