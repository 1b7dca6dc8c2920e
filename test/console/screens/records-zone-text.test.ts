import { describe, expect, it } from 'vitest';
import { hasLines, isZoneText } from '../../../console/src/screens/records/zone-text.ts';

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

  it('has several lines if more than one is not empty', () => {
    expect(['a\nb', 'a\r\n\r\nb', '\n a\n b'].map(hasLines)).toEqual([true, true, true]);
    expect(['a', 'a\n', '\n\na b\n', ''].map(hasLines)).toEqual([false, false, false, false]);
  });
});
